// Supported calls of rungs: operands of more than 2^31 elements, and calls from several threads.

#include <atomic>
#include <new>
#include <thread>

#include "core/standard_cases.hpp"
#include "core/verify.hpp"
#include "rungs_under_test.hpp"

namespace rung {
namespace {

class GemmCalls : public testing::TestWithParam<const RungInfo*> {
 protected:
  Verdict verdict_of(const GemmSpec& spec, int threads) {
    GemmCase problem(spec);
    return verify(problem,
                  [&](const GemmCall& call) { run(backend_, *GetParam(), call, threads); });
  }

  const Backend& backend_ = *find_backend("cpu");
};

TEST_P(GemmCalls, ReachElementsPastTwoToTheThirtyOne) {
  // Three rows, 2^30 elements and more apart. The gaps use address space but no memory.
  constexpr std::int64_t apart = (std::int64_t{1} << 30) + 3;
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16}) {
    for (const bool transposed : {false, true}) {
      const GemmSpec plain = {.dtype = dtype,
                              .m = 3,
                              .n = 3,
                              .k = 3,
                              .a_transposed = transposed,
                              .b_transposed = transposed,
                              .beta = 1};
      for (const auto padding :
           {&GemmSpec::a_padding, &GemmSpec::b_padding, &GemmSpec::c_padding}) {
        GemmSpec spec = plain;
        spec.*padding = apart;
        try {
          const Verdict verdict = verdict_of(spec, 2);
          EXPECT_TRUE(verdict.right) << verdict.message;
        } catch (const std::bad_alloc&) {
          GTEST_SKIP() << "this system grants no 9 GB of address space";
        }
      }
    }
  }
}

TEST_P(GemmCalls, MayBeLargerThanAnyBlock) {
  for (const bool tall : {false, true}) {
    const std::int64_t m = tall ? 20'011 : 5;
    const std::int64_t n = tall ? 5 : 20'011;
    const Verdict verdict = verdict_of({.m = m, .n = n, .k = 230, .a_padding = 3, .beta = 1}, 2);
    EXPECT_TRUE(verdict.right) << verdict.message;
  }
}

TEST_P(GemmCalls, ReadOperandsFromEachCache) {
  const GemmSpec few_rows_and_b_in_l2 = {.m = 9, .n = 301, .k = 67, .beta = 2};
  const GemmSpec several_tiles_of_rows = {.m = 45, .n = 150, .k = 311};
  const GemmSpec few_rows_and_b_beyond_l2 = {.m = 3, .n = 1030, .k = 530, .beta = 1};
  const GemmSpec tiles_of_rows_beyond_l2 = {.m = 15, .n = 1024, .k = 530, .b_padding = 5};
  const GemmSpec strips_of_b_are_copied = {.m = 41, .n = 1029, .k = 519, .beta = 1};
  const GemmSpec rows_of_a_share_sets = {.m = 43, .n = 100, .k = 1024, .beta = 1};
  const GemmSpec columns_of_a_share_sets = {.m = 1024, .n = 50, .k = 33, .a_transposed = true};
  const GemmSpec one_strip_of_b = {.m = 1024, .n = 20, .k = 33, .a_transposed = true};
  for (GemmSpec spec : {few_rows_and_b_in_l2, several_tiles_of_rows, few_rows_and_b_beyond_l2,
                        tiles_of_rows_beyond_l2, strips_of_b_are_copied, rows_of_a_share_sets,
                        columns_of_a_share_sets, one_strip_of_b}) {
    for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
      spec.dtype = dtype;
      const Verdict verdict = verdict_of(spec, dtype == Dtype::f32 ? 1 : 2);
      EXPECT_TRUE(verdict.right) << verdict.message;
    }
  }
}

TEST_P(GemmCalls, MayComeFromSeveralThreadsAtOnce) {
  constexpr int callers = 4;
  const std::vector<GemmSpec> specs = standard_gemm_cases(Dtype::f32, Effort::quick);
  std::atomic<int> ready = 0;
  std::vector<std::string> failures(callers);
  std::vector<std::thread> threads;
  for (int caller = 0; caller < callers; ++caller) {
    threads.emplace_back([&, caller] {
      ++ready;
      while (ready < callers) std::this_thread::yield();
      for (std::size_t i = 0; i < specs.size(); ++i) {
        const Verdict verdict = verdict_of(specs[(i + 5 * caller) % specs.size()], 2);
        if (!verdict.right) failures[caller] = verdict.message;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& failure : failures) EXPECT_EQ(failure, "");
}

class DotCalls : public testing::TestWithParam<const RungInfo*> {
 protected:
  const RungInfo& rung_ = *GetParam();
  const Backend& backend_ = *find_backend("cpu");
};

TEST_P(DotCalls, ReachElementsPastTwoToTheThirtyOne) {
  constexpr std::int64_t apart = (std::int64_t{1} << 30) + 3;
  DotCase problem({.n = 3, .incx = apart, .incy = 2});
  if (const auto reason = backend_.why_not(rung_, problem.call())) GTEST_SKIP() << *reason;
  const Verdict verdict =
      verify(problem, [&](const DotCall& call) { return run(backend_, rung_, call, 2); });
  EXPECT_TRUE(verdict.right) << verdict.message;
}

TEST_P(DotCalls, MayComeFromSeveralThreadsAtOnce) {
  constexpr int callers = 4;
  const DotCase problem({.n = 300'001, .values = Values::integers});
  const double expected = run(backend_, rung_, problem.call(), 1);
  std::vector<double> sums(callers);
  std::vector<std::thread> threads;
  for (double& sum : sums) {
    threads.emplace_back([&] {
      for (int call = 0; call < 20; ++call) {
        sum = run(backend_, rung_, problem.call(), 2);
        if (sum != expected) return;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const double sum : sums) EXPECT_EQ(sum, expected);
}

TEST_P(DotCalls, AccurateBitsDoNotDependOnTheNumberOfThreads) {
  if (accuracy_of(rung_) == Accuracy::plain) GTEST_SKIP() << "last bits may change";
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    for (const std::int64_t n : {1000, 65'537, 1'000'003}) {
      const DotCase problem({.dtype = dtype, .n = n, .condition = 1e9});
      const double alone = run(backend_, rung_, problem.call(), 1);
      for (const int threads : {2, 3, 5}) {
        EXPECT_EQ(run(backend_, rung_, problem.call(), threads), alone) << n << " on " << threads;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, GemmCalls, testing::ValuesIn(rungs_under_test("gemm")),
                         test_name_of_rung);
INSTANTIATE_TEST_SUITE_P(Cpu, DotCalls, testing::ValuesIn(rungs_under_test("dot")),
                         test_name_of_rung);

}  // namespace
}  // namespace rung
