// Lets every call of the driver fail once: the library reports it, leaks nothing, and works
// afterwards.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <new>
#include <optional>
#include <regex>
#include <set>

#include "any_call.hpp"
#include "failing_driver.hpp"
#include "fixture.hpp"
#include "product.hpp"

namespace rung {
namespace {

using cuda::FailingDriver, cuda::Product, cuda::DotProduct, cuda::ProductShape;

constexpr DotMode modes[] = {DotMode::deterministic, DotMode::fast, DotMode::compensated,
                             DotMode::reproducible};

/// The Status of an exception thrown by f.
Status status_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.code();
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory;
  }
  return Status::ok;
}

class CudaFault : public CudaLibrary {
 protected:
  void SetUp() override {
    CudaLibrary::SetUp();
    static const cuda::Driver failing{.api = &FailingDriver::the().api(),
                                      .takes_cubin = cuda::on_real_gpu()};
    cuda::use_driver(&failing);
  }
  void TearDown() override {
    FailingDriver::the().is_dry = false;
    FailingDriver::the().forget_modules();
    CudaLibrary::TearDown();
  }

  /// problem.run(): calls the library. problem.poison(): overwrites its results.
  /// problem.is_right(): checks them.
  template <class Problem>
  void fail_each_call(Problem& problem, cuda::Result error) {
    FailingDriver& driver = FailingDriver::the();
    for (int at = 1;; ++at) {
      driver.seem_new();
      problem.poison();
      driver.fail(at, error);
      const Status status = status_of([&] { problem.run(); });
      const std::string failed = driver.failed();
      driver.fail(0, error);
      SCOPED_TRACE("call " + std::to_string(at) + ", " + failed);
      if (status == Status::ok) {
        // Nothing failed, or a call that is not needed for the result.
        EXPECT_TRUE(problem.is_right());
      } else {
        EXPECT_EQ(status, error == cuda::Result::out_of_memory ? Status::out_of_memory
                                                               : Status::device_error);
      }
      problem.poison();
      EXPECT_EQ(status_of([&] { problem.run(); }), Status::ok);
      EXPECT_TRUE(problem.is_right());
      release_cuda_workspace(default_stream);
      EXPECT_TRUE(driver.held["cuMemAlloc"].empty());
      // If the driver refuses to free memory, it is lost.
      failed_calls_.insert(failed);
      EXPECT_EQ(driver.held["cuMemAllocFromPoolAsync"].size(),
                failed == "cuMemFreeAsync" ? 1u : 0u);
      EXPECT_LE(driver.held["cuMemPoolCreate"].size(), 1u);
      if (failed.empty()) return;
    }
  }

  /// Lets each call fail for a call that writes C by one launch or several: C is unchanged unless a
  /// launch fails after another one.
  void fail_each_call_of(const cuda::AnyCall& call) {
    FailingDriver& driver = FailingDriver::the();
    for (int at = 1;; ++at) {
      driver.seem_new();
      driver.fail(at, cuda::Result::out_of_memory);
      const cuda::Outcome outcome = cuda::run(api, call);
      const std::string failed = driver.failed();
      driver.fail(0, cuda::Result::success);
      SCOPED_TRACE(describe(call) + ": driver call " + std::to_string(at) + ", " + failed);
      const bool is_launch = failed.starts_with("cuLaunchKernel");
      if (!is_launch) {
        EXPECT_EQ(outcome.wrong, "");
      }
      EXPECT_TRUE(outcome.status == RUNG_OUT_OF_MEMORY || (outcome.status == RUNG_OK && !is_launch))
          << outcome.message;
      const cuda::Outcome next = cuda::run(api, call);
      EXPECT_EQ(next.status, RUNG_OK) << next.message;
      EXPECT_EQ(next.wrong, "");
      release_cuda_workspace(default_stream);
      EXPECT_TRUE(driver.held["cuMemAlloc"].empty());
      EXPECT_EQ(driver.held["cuMemAllocFromPoolAsync"].size(),
                failed == "cuMemFreeAsync" ? 1u : 0u);
      if (failed.empty()) return;
    }
  }

  std::set<std::string> failed_calls_;

  template <class Problem>
  void fail_each_call(Problem&& problem) {
    fail_each_call(problem, cuda::Result::out_of_memory);
    fail_each_call(problem, cuda::Result::launch_failed);
  }

  template <class In, class Out>
  struct GemmProblem : Product<In, Out> {
    using Product<In, Out>::Product;
    void run() { Product<In, Out>::run(default_stream); }
  };
  template <class In, class Out>
  void fail_each_call_of_gemm(const ProductShape& shape) {
    fail_each_call(GemmProblem<In, Out>(api, shape));
  }
};

TEST_F(CudaFault, EachCallOfAProductInOnePart) {
  fail_each_call_of_gemm<float, float>({.m = 5, .n = 6, .k = 7});
}

TEST_F(CudaFault, EachCallOfAProductInSeveralParts) {
  fail_each_call_of_gemm<float, float>({.m = 4, .n = 4, .k = 2048});
  EXPECT_TRUE(failed_calls_.contains("cuMemAlloc"));
}

TEST_F(CudaFault, EachCallWhereOperandsAreCopied) {
  fail_each_call_of_gemm<float8_e4m3, float>({.m = 9, .n = 10, .k = 11, .placement = {1, 1}});
  fail_each_call_of_gemm<bfloat16, float>({.m = 9, .n = 10, .k = 11, .placement = {1, 1}});
  fail_each_call_of_gemm<std::int8_t, std::int32_t>({.m = 9, .n = 10, .k = 11});
  EXPECT_TRUE(failed_calls_.contains("cuTensorMapEncodeTiled"));
}

// A line of the copy has 128 bytes, so the copy takes 33 MiB, more than the workspace.
TEST_F(CudaFault, EachCallWhereCopiesAreLarge) {
  struct LargeCopies : GemmProblem<float8_e4m3, float> {
    using GemmProblem::GemmProblem;
    bool is_right() const { return true; }  // CudaCopies checks results
  };
  FailingDriver::the().is_dry = true;
  fail_each_call(LargeCopies(api, {.m = 33 * 8192, .n = 1, .k = 1, .placement = {0, 1}}));
  EXPECT_TRUE(failed_calls_.contains("cuMemAllocFromPoolAsync"));
}

TEST_F(CudaFault, EachCallOfAScaling) {
  struct Scaling : Product<float, float> {
    using Product::Product;
    void run() const { negate(default_stream); }
    bool is_right() const { return is_poison_negated(); }
  };
  fail_each_call(Scaling(api, {5, 6, 7}));
}

TEST_F(CudaFault, EachCallOfADot) {
  struct Dot : DotProduct<float, float> {
    Dot(const cuda::DriverApi& api, DotMode wanted) : DotProduct(api, 20'000), mode(wanted) {}
    void run() const { DotProduct::run(default_stream, {.mode = mode}); }
    DotMode mode;
  };
  for (const DotMode mode : modes) {
    fail_each_call(Dot(api, mode));
  }
}

TEST_F(CudaFault, EachCallOfADotThatIsReturned) {
  struct Dot : DotProduct<double, double> {
    explicit Dot(const cuda::DriverApi& api) : DotProduct(api, 20'000) {}
    void run() { result = returned(default_stream); }
    void poison() { result = -1; }
    bool is_right() const { return result == expected(); }
    double result = -1;
  };
  fail_each_call(Dot(api));
}

TEST_F(CudaFault, EachCallOfEveryEntryPointOfAnyType) {
  for (const cuda::Entry entry : cuda::entries) {
    cuda::AnyCall call = {.entry = entry, .m = 4, .n = 5, .k = 6, .beta = 1};
    if (entry == cuda::Entry::mixed) call.b = RUNG_DTYPE_BF16;
    if (entry == cuda::Entry::weight_only) {
      call.a = RUNG_DTYPE_BF16;
      call.b = RUNG_DTYPE_I8;
      call.k = 64;
    }
    if (entry == cuda::Entry::block_scaled || entry == cuda::Entry::block_scaled_groups) {
      call.a = call.b = RUNG_DTYPE_E4M3;
    }
    if (entry == cuda::Entry::parts) {
      call.a = call.b = call.c = RUNG_DTYPE_F16;
      call.n = call.k = 8;
    }
    fail_each_call_of(call);
  }
}

TEST_F(CudaFault, EachCallOfSeveralLaunches) {
  using cuda::Entry;
  // Products one after the other, with copies.
  fail_each_call_of({.entry = Entry::batched,
                     .m = 3,
                     .n = 4,
                     .k = 5,
                     .beta = 1,
                     .compute_mode = RUNG_COMPUTE_REPRODUCIBLE});
  // Some rows of sums at a time, then the results.
  fail_each_call_of(
      {.entry = Entry::epilogue, .m = 40, .n = 24, .k = 3, .beta = 1, .workspace_bytes = 4097});
  // 512 groups at a time.
  fail_each_call_of(
      {.entry = Entry::groups_of_rows, .m = 9, .n = 2, .k = 1, .count = 600, .beta = 1});
}

/// The functions of the public headers that take a stream, or options with one. Functions for
/// several GPUs also take a communicator; tests/dist tests them.
std::set<std::string> functions_with_a_stream() {
  const std::set<std::string> of_several_gpus = {"dist.hpp", "nccl.h", "nccl.hpp",
                                                 "tensor_parallel.hpp"};
  const std::regex function(
      R"((\w+)\s*\([^()]*(?:CudaStream|void\* stream|rung_tensor_options\*)[^()]*\))");
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(RUNG_HEADERS)) {
    if (of_several_gpus.contains(entry.path().filename().string())) continue;
    std::ifstream file(entry.path());
    const std::string text(std::istreambuf_iterator<char>(file), {});
    for (std::sregex_iterator i(text.begin(), text.end(), function), end; i != end; ++i) {
      names.insert((*i)[1]);
    }
  }
  return names;
}

// The tests above let each call of these fail. Typed C functions count as the C++ ones.
TEST(CudaFaultList, HasEveryFunctionThatTakesAStream) {
  std::set<std::string> covered = {"gemm",
                                   "gemm_batched",
                                   "gemm_grouped",
                                   "gemm_epilogue",
                                   "gemm_block_scaled",
                                   "gemm_weight_only",
                                   "pack_weights",
                                   "gemm_parts",
                                   "dot",
                                   "release_cuda_workspace",
                                   "rung_gemm",
                                   "rung_gemm_pointers",
                                   "rung_gemm_grouped",
                                   "rung_gemm_epilogue",
                                   "rung_gemm_block_scaled",
                                   "rung_gemm_weight_only",
                                   "rung_pack_weights",
                                   "rung_cuda_release_workspace"};
  for (const char* const types :
       {"f32", "f64", "i32", "bf16", "f16", "bf16_bf16", "f16_f16", "tf32", "i8", "e4m3", "e5m2"}) {
    covered.insert(std::string("rung_cuda_gemm_") + types);
  }
  for (const char* const type : {"f32", "f64", "bf16", "f16"}) {
    covered.insert(std::string("rung_cuda_dot_") + type);
  }
  EXPECT_EQ(functions_with_a_stream(), covered);
}

}  // namespace
}  // namespace rung
