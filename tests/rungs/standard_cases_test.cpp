// Every rung, every type and every standard case, on one thread and several.

#include "core/standard_cases.hpp"
#include "core/dtype_traits.hpp"

#include <array>

#include "core/verify.hpp"
#include "rungs_under_test.hpp"

namespace rung {
namespace {

constexpr std::array thread_counts = {1, 2, 3};

/// The long list for one thread, and for uneven division of work; the quick list in sanitized
/// builds, where kernels are twenty times slower.
Effort effort([[maybe_unused]] int threads) {
#ifdef RUNG_SANITIZED
  return Effort::quick;
#else
  return threads == 2 ? Effort::quick : Effort::full;
#endif
}

class StandardCases : public testing::TestWithParam<RungAndDtype> {
 protected:
  void SetUp() override {
    if (const auto reason = backend_.why_not(rung_, dtype_)) GTEST_SKIP() << *reason;
  }

  const RungInfo& rung_ = *std::get<0>(GetParam());
  const Dtype dtype_ = std::get<1>(GetParam());
  const Backend& backend_ = *find_backend("cpu");
};

class GemmRungs : public StandardCases {};
class DotRungs : public StandardCases {};

TEST_P(GemmRungs, AreRight) {
  for (const int threads : thread_counts) {
    for (const GemmSpec& spec : standard_gemm_cases(dtype_, effort(threads))) {
      GemmCase problem(spec);
      ASSERT_EQ(backend_.why_not(rung_, problem.call()), std::nullopt) << describe(spec);
      const Verdict verdict =
          verify(problem, [&](const GemmCall& call) { run(backend_, rung_, call, threads); });
      EXPECT_TRUE(verdict.right) << verdict.message << " on " << threads << " threads";
    }
  }
}

TEST_P(DotRungs, AreRight) {
  const Accuracy accuracy = accuracy_of(rung_);
  int unit_stride_cases = 0;
  for (const int threads : thread_counts) {
    for (const DotSpec& spec : standard_dot_cases(dtype_, accuracy, effort(threads))) {
      DotCase problem(spec);
      if (backend_.why_not(rung_, problem.call())) {
        EXPECT_FALSE(spec.incx == 1 && spec.incy == 1) << describe(spec);
        continue;
      }
      ++unit_stride_cases;
      const Verdict verdict =
          verify(problem, [&](const DotCall& call) { return run(backend_, rung_, call, threads); });
      EXPECT_TRUE(verdict.right) << verdict.message << " on " << threads << " threads";
    }
  }
  EXPECT_GT(unit_stride_cases, 0);
}

INSTANTIATE_TEST_SUITE_P(Cpu, GemmRungs,
                         testing::Combine(testing::ValuesIn(rungs_under_test("gemm")),
                                          testing::ValuesIn(all_dtypes)),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Cpu, DotRungs,
                         testing::Combine(testing::ValuesIn(rungs_under_test("dot")),
                                          testing::Values(Dtype::f32, Dtype::f64, Dtype::bf16,
                                                          Dtype::f16)),
                         test_name);

}  // namespace
}  // namespace rung
