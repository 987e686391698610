// Every call of the driver fails once: the library says so, leaks nothing, and is right afterwards.

#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <optional>

#include "failing_driver.hpp"
#include "fixture.hpp"
#include "product.hpp"

namespace rung {
namespace {

using cuda::FailingDriver, cuda::Product, cuda::DotProduct, cuda::ProductShape;

constexpr DotMode modes[] = {DotMode::deterministic, DotMode::fast, DotMode::compensated,
                             DotMode::reproducible};

/// The Status of what f throws.
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

  /// problem.run() calls the library, problem.poison() makes what it has written wrong, and
  /// problem.is_right() judges it.
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
        // Nothing failed, or a call without which the product is right.
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
      // What the driver does not take back is lost.
      failed_calls_.insert(failed);
      EXPECT_EQ(driver.held["cuMemAllocFromPoolAsync"].size(),
                failed == "cuMemFreeAsync" ? 1u : 0u);
      EXPECT_LE(driver.held["cuMemPoolCreate"].size(), 1u);
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

// A line of the copy has 128 bytes: 33 MiB, which the workspace does not hold.
TEST_F(CudaFault, EachCallWhereCopiesAreLarge) {
  struct LargeCopies : GemmProblem<float8_e4m3, float> {
    using GemmProblem::GemmProblem;
    bool is_right() const { return true; }  // CudaCopies looks at results
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

}  // namespace
}  // namespace rung
