// Lets every request for memory or for a thread fail once, in every rung and in the library: the
// result is right, or the call throws std::bad_alloc without changes, and the next call is right.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "../cpu_dtypes.hpp"
#include "../library/entry_points.hpp"
#include "../library/public_call.hpp"
#include "core/case.hpp"
#include "core/dtype.hpp"
#include "core/verify.hpp"
#include "failing_allocations.hpp"
#include "rung/rung.h"
#include "rungs_under_test.hpp"

namespace rung {
namespace {

constexpr int max_requests = 64;

enum Outcome : int { right = 0, failed_right, threw, wrong, wrong_afterwards, changed };

bool holds(const void* result, const std::vector<std::byte>& bytes) {
  return std::memcmp(result, bytes.data(), bytes.size()) == 0;
}

/// Runs in a child, where no threads or scratch memory of the library exist yet.
Outcome outcome_of(int failing, bool forever, const std::function<void()>& call, void* result,
                   const std::vector<std::byte>& before, const std::vector<std::byte>& expected,
                   const std::function<bool()>& next_is_right) {
  bool bad_alloc = false;
  fail_allocation(failing, forever);
  try {
    call();
  } catch (const std::bad_alloc&) {
    bad_alloc = true;
  }
  const bool failed = allocation_failed();
  fail_allocation(0);
  if (bad_alloc && !holds(result, before)) return changed;
  if (!bad_alloc && !holds(result, expected)) return wrong;
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::memcpy(result, before.data(), before.size());
    call();
    if (!holds(result, expected) || !next_is_right()) return wrong_afterwards;
  }
  if (bad_alloc) return threw;
  return failed ? failed_right : right;
}

Outcome in_child(const std::function<Outcome()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(300);  // ends a child that hangs
    _exit(body());
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
  return WIFEXITED(status) ? static_cast<Outcome>(WEXITSTATUS(status)) : wrong;
}

std::vector<std::byte> bytes_of(const void* data, std::size_t size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  return {bytes, bytes + size};
}

/// An f32 product that uses threads and scratch memory, through the packing rung.
class Next {
 public:
  bool is_right() {
    const Verdict verdict = verify(problem_, [&](const GemmCall& call) {
      run(backend_, *select({"gemm/cpu/cache_blocks"}).front(), call, 4);
    });
    return verdict.right;
  }

 private:
  const Backend& backend_ = *find_backend("cpu");
  GemmCase problem_{{.dtype = Dtype::f32, .m = 40, .n = 50, .k = 30, .values = Values::integers}};
};

/// The result of `call`, computed in a child as well, so that this process creates no threads.
std::vector<std::byte> expected_of(const std::function<void()>& call, const void* result,
                                   std::size_t result_bytes) {
  void* const shared =
      mmap(nullptr, result_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(shared, MAP_FAILED);
  const Outcome outcome = in_child([&] {
    call();
    std::memcpy(shared, result, result_bytes);
    return right;
  });
  EXPECT_EQ(outcome, right);
  auto bytes = bytes_of(shared, result_bytes);
  munmap(shared, result_bytes);
  return bytes;
}

/// Lets each request of `call` fail, until it makes fewer. Expects `result_bytes` bytes at
/// `result`. Returns the number of requests.
int fail_each_request(const std::function<void()>& call, void* result, std::size_t result_bytes) {
  const auto before = bytes_of(result, result_bytes);
  const std::vector<std::byte> expected = expected_of(call, result, result_bytes);
  EXPECT_NE(expected, before);

  for (int n = 1; n <= max_requests; ++n) {
    bool any_failed = false;
    for (const bool forever : {false, true}) {
      const Outcome outcome = in_child([&] {
        return outcome_of(n, forever, call, result, before, expected,
                          [] { return Next().is_right(); });
      });
      EXPECT_LE(outcome, threw) << "request " << n << (forever ? " and all later ones" : "");
      any_failed = any_failed || outcome != right;
    }
    if (!any_failed) return n - 1;
    if (testing::Test::HasFailure()) return n;
  }
  ADD_FAILURE() << "more than " << max_requests << " requests";
  return max_requests;
}

/// Size of C without guards, for tight rows.
std::size_t result_bytes(const GemmCase& problem) {
  const GemmSpec& spec = problem.spec();
  return static_cast<std::size_t>(spec.m * spec.n) * input_bytes(output_type(spec.dtype));
}

class RungsOutOfMemory : public testing::TestWithParam<RungAndDtype> {};

TEST_P(RungsOutOfMemory, GemmIsRightOrThrows) {
  const auto& [rung, dtype] = GetParam();
  const Backend& backend = *find_backend("cpu");
  // Both paths of split_k: splits of k, and products of several tiles.
  for (const GemmSpec& spec :
       {GemmSpec{
            .dtype = dtype, .m = 150, .n = 530, .k = 20, .beta = 2, .values = Values::integers},
        GemmSpec{
            .dtype = dtype, .m = 5, .n = 7, .k = 4100, .beta = 2, .values = Values::integers}}) {
    for (const int threads : {2, 4}) {
      GemmCase problem(spec);
      const GemmCall call = problem.call();
      fail_each_request([&] { run(backend, *rung, call, threads); }, problem.c().data(),
                        result_bytes(problem));
    }
  }
}

/// Splits of k with 16-bit elements converted to float; the last one needs larger panels.
TEST(WidenedOutOfMemory, IsRightOrThrows) {
  const RungInfo& rung = *select({"gemm/cpu/widened"}).front();
  GemmCase problem(
      {.dtype = Dtype::bf16, .m = 1455, .n = 59, .k = 9636, .beta = 2, .values = Values::integers});
  const GemmCall call = problem.call();
  fail_each_request([&] { run(*find_backend("cpu"), rung, call, 1); }, problem.c().data(),
                    result_bytes(problem));
}

class DotRungsOutOfMemory : public testing::TestWithParam<RungAndDtype> {};

TEST_P(DotRungsOutOfMemory, DotIsRightOrThrows) {
  const auto& [rung, dtype] = GetParam();
  const Backend& backend = *find_backend("cpu");
  const DotCase problem({.dtype = dtype, .n = 600'001, .values = Values::integers});
  for (const int threads : {2, 4}) {
    double sum = -1;
    fail_each_request([&] { sum = run(backend, *rung, problem.call(), threads); }, &sum,
                      sizeof sum);
  }
}

constexpr std::array dot_dtypes = {Dtype::f32, Dtype::f64, Dtype::bf16, Dtype::f16};

class LibraryOutOfMemory : public testing::TestWithParam<Dtype> {};

/// One product for each rule of select/cpu/tables.hpp, and one with few rows of A and a large B.
std::vector<GemmSpec> library_cases(Dtype dtype) {
  std::vector<GemmSpec> specs;
  const std::int64_t shapes[][3] = {{64, 64, 4500},  {40, 200, 70}, {200, 40, 70},
                                    {100, 100, 100}, {90, 80, 650}, {3, 1200, 2300}};
  for (const auto& [m, n, k] : shapes) {
    specs.push_back(
        {.dtype = dtype, .m = m, .n = n, .k = k, .beta = 2, .values = Values::integers});
  }
  return specs;
}

TEST_P(LibraryOutOfMemory, GemmIsRightOrThrows) {
  int requests = 0;
  for (const GemmSpec& spec : library_cases(GetParam())) {
    for (const int threads : {2, 4}) {
      GemmCase problem(spec);
      requests += fail_each_request(
          [&] { public_gemm(problem.call(), Form::row_major_c, GemmOptions{.threads = threads}); },
          problem.c().data(), result_bytes(problem));
    }
  }
  EXPECT_GE(requests, 10);
}

TEST_P(LibraryOutOfMemory, DotIsRightOrThrows) {
  if (is_integer(GetParam())) GTEST_SKIP() << "dot has no integers";
  int requests = 0;
  for (const DotMode mode :
       {DotMode::fast, DotMode::deterministic, DotMode::compensated, DotMode::reproducible}) {
    for (const std::int64_t n : {300'001, 4'500'001}) {
      const DotCase problem({.dtype = GetParam(), .n = n, .values = Values::integers});
      for (const int threads : {2, 4}) {
        double sum = -1;
        requests += fail_each_request(
            [&] { sum = public_dot(problem.call(), {.threads = threads, .mode = mode}); }, &sum,
            sizeof sum);
      }
    }
  }
  EXPECT_GE(requests, 16);
}

/// Every function of rung.h that computes on CPUs, from the list that
/// tests/library/options_test.cpp compares with the header.
class EntryPointsOutOfMemory : public testing::TestWithParam<int> {
 protected:
  const entry::EntryPoint& entry() const {
    return entry::entry_points()[static_cast<std::size_t>(GetParam())];
  }
  /// Tests the modes that allocate differently.
  void fail_each_request_of(entry::Problem problem) const {
    const bool is_float = entry().variant.starts_with("f32");
    const bool is_by_products =
        entry().function == std::string("rung_gemm") && entry().reference == nullptr;
    if (is_by_products) problem.count = 1;  // each is a separate call
    const entry::Call call = entry().make(problem, entry::allocate);
    for (const int mode :
         {RUNG_COMPUTE_STANDARD, RUNG_COMPUTE_REPRODUCIBLE, RUNG_COMPUTE_BATCH_INVARIANT}) {
      const bool differs = mode != RUNG_COMPUTE_REPRODUCIBLE || is_float;
      const auto runs = [&] { return call.run(1, mode) == RUNG_OK ? right : threw; };
      if (mode != RUNG_COMPUTE_STANDARD && (!differs || in_child(runs) != right)) continue;
      fail_each_request(
          [&] {
            const rung_status status = call.run(2, mode);
            if (status == RUNG_OUT_OF_MEMORY) throw std::bad_alloc();
            ASSERT_EQ(status, RUNG_OK) << rung_last_error();
          },
          call.result.data(), call.result.size());
    }
  }
};

TEST_P(EntryPointsOutOfMemory, AreRightOrChangeNothing) {
  const std::string function = entry().function;
  for (const char* const same_code : {"f16", "e5m2", "i"}) {  // same code as bf16, e4m3 and f64
    if (entry().variant.starts_with(same_code)) GTEST_SKIP();
  }
  if (function.starts_with("rung_dot")) return fail_each_request_of({1, 1, 600'001});
  fail_each_request_of({80, 72, 70, 3});
  // Several panels: of weights, of rows with scales, of sums that are rounded to 16 bits.
  if (function == "rung_gemm_weight_only") fail_each_request_of({3, 1100, 1024});
  if (function == "rung_gemm_block_scaled") fail_each_request_of({300, 40, 200});
  if (entry().variant == "bf16 to bf16") fail_each_request_of({1100, 2000, 3});
}

TEST(COutOfMemory, IsAStatus) {
  constexpr int n = 100;
  const std::vector<rung_bfloat16> a(n * n, rung_bfloat16{0x3F80});  // 1
  std::vector<float> c(n * n, 7);
  rung_gemm_options options = RUNG_GEMM_OPTIONS_INIT;
  options.threads = 2;
  const auto product = [&] {
    return rung_gemm_bf16(RUNG_ROW_MAJOR, RUNG_NO_TRANS, RUNG_NO_TRANS, n, n, n, 1, a.data(), n,
                          a.data(), n, 0, c.data(), n, &options);
  };
  fail_allocation(1, true);
  const rung_status status = product();
  fail_allocation(0);
  EXPECT_EQ(status, RUNG_OUT_OF_MEMORY);
  EXPECT_STREQ(rung_last_error(), "rung: out of memory");
  EXPECT_EQ(c, std::vector<float>(n * n, 7));
  EXPECT_EQ(product(), RUNG_OK);
  EXPECT_EQ(c, std::vector<float>(n * n, n));
}

INSTANTIATE_TEST_SUITE_P(Cpu, EntryPointsOutOfMemory,
                         testing::Range(0, static_cast<int>(entry::entry_points().size())));
INSTANTIATE_TEST_SUITE_P(Cpu, RungsOutOfMemory,
                         testing::Combine(testing::ValuesIn(rungs_under_test("gemm")),
                                          testing::ValuesIn(cpu_dtypes)),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Cpu, DotRungsOutOfMemory,
                         testing::Combine(testing::ValuesIn(rungs_under_test("dot")),
                                          testing::ValuesIn(dot_dtypes)),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Cpu, LibraryOutOfMemory, testing::ValuesIn(cpu_dtypes),
                         [](const auto& param) { return std::string(identifier(param.param)); });

}  // namespace
}  // namespace rung
