// Verification detects every mutant, and accepts correct kernels.

#include "mutants.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <string>

#include "core/standard_cases.hpp"
#include "core/verify.hpp"
#include "rung/types.hpp"

namespace rung {
namespace {

/// The verdict on the first standard case that the kernel fails, or on the last one.
Verdict verdict_of(const GemmMutant& mutant) {
  Verdict verdict;
  for (const GemmSpec& spec : standard_gemm_cases(Dtype::f32, Effort::quick)) {
    GemmCase problem(spec);
    verdict =
        verify(problem, [&](const GemmCall& call) { mutant.run(call.typed<float, float>()); });
    if (!verdict.right) break;
  }
  return verdict;
}

Verdict verdict_of(const DotMutant& mutant, Accuracy accuracy) {
  Verdict verdict;
  for (const DotSpec& spec : standard_dot_cases(Dtype::f32, accuracy, Effort::quick)) {
    DotCase problem(spec);
    verdict = verify(problem, [&](const DotCall& call) { return mutant.run(call.typed<float>()); });
    if (!verdict.right) break;
  }
  return verdict;
}

template <class Mutant>
std::string test_name(const testing::TestParamInfo<Mutant>& info) {
  std::string text(info.param.bug);
  std::replace_if(text.begin(), text.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return text;
}

class GemmMutants : public testing::TestWithParam<GemmMutant> {};
class DotMutants : public testing::TestWithParam<DotMutant> {};

TEST_P(GemmMutants, AreCaught) {
  const Verdict verdict = verdict_of(GetParam());
  EXPECT_FALSE(verdict.right);
  EXPECT_GT(verdict.max_error_ratio, 1);
  EXPECT_NE(verdict.message, "");
  RecordProperty("caught", verdict.message);
}

TEST_P(DotMutants, AreCaught) {
  const Verdict verdict = verdict_of(GetParam(), Accuracy::plain);
  EXPECT_FALSE(verdict.right);
  EXPECT_GT(verdict.max_error_ratio, 1);
  EXPECT_NE(verdict.message, "");
  RecordProperty("caught", verdict.message);
}

INSTANTIATE_TEST_SUITE_P(, GemmMutants, testing::ValuesIn(gemm_mutants().subspan(1)),
                         test_name<GemmMutant>);
INSTANTIATE_TEST_SUITE_P(, DotMutants, testing::ValuesIn(dot_mutants().subspan(1)),
                         test_name<DotMutant>);

TEST(Verification, LetsThroughWhatIsRight) {
  const Verdict gemm = verdict_of(gemm_mutants()[0]);
  EXPECT_TRUE(gemm.right) << gemm.message;
  EXPECT_LE(gemm.max_error_ratio, 1);
  EXPECT_EQ(gemm.message, "");
  const Verdict dot = verdict_of(dot_mutants()[0], Accuracy::plain);
  EXPECT_TRUE(dot.right) << dot.message;
}

/// Like a sum in twice the precision, rounded once, for floats of moderate size.
float sum_in_double(const Dot<float>& d) {
  double sum = 0;
  for (std::int64_t i = 0; i < d.n; ++i) {
    sum += static_cast<double>(d.x[i * d.incx]) * static_cast<double>(d.y[i * d.incy]);
  }
  return static_cast<float>(sum);
}

TEST(Verification, TellsHowAccurateASumIs) {
  const DotMutant plain = dot_mutants()[0];
  EXPECT_FALSE(verdict_of(plain, Accuracy::compensated).right);
  EXPECT_FALSE(verdict_of(plain, Accuracy::exact).right);
  const DotMutant in_double = {"not exact", sum_in_double};
  EXPECT_TRUE(verdict_of(in_double, Accuracy::compensated).right);
  EXPECT_FALSE(verdict_of(in_double, Accuracy::exact).right);
}

TEST(Verification, CatchesOffsetsOf32Bits) {
  try {
    GemmCase problem(
        {.dtype = Dtype::bf16, .m = 5, .n = 3, .k = 3, .a_padding = (std::int64_t{1} << 30) + 5});
    const Verdict verdict = verify(problem, [](const GemmCall& call) {
      gemm_with_32_bit_offsets(call.typed<bfloat16, float>());
    });
    EXPECT_FALSE(verdict.right);
  } catch (const std::bad_alloc&) {
    GTEST_SKIP() << "this system grants no 9 GB of address space";
  }
}

/// The verdict on a problem large enough to be checked by a few rows and a random vector.
template <class In, class Out>
Verdict verdict_on_large(Dtype dtype, Out wrong_by) {
  GemmCase problem({.dtype = dtype, .m = 431, .n = 409, .k = 421, .alpha = 2, .beta = -1});
  return verify(problem, [&](const GemmCall& call) {
    const Gemm<In, Out> g = call.typed<In, Out>();
    for (std::int64_t i = 0; i < g.m; ++i) {
      for (std::int64_t j = 0; j < g.n; ++j) g.c(i, j) *= g.beta;
      for (std::int64_t k = 0; k < g.k; ++k) {
        const Out a = g.alpha * static_cast<Out>(g.a(i, k));
        for (std::int64_t j = 0; j < g.n; ++j) g.c(i, j) += a * static_cast<Out>(g.b(k, j));
      }
    }
    g.c(g.m / 2 + 1, g.n / 3) += wrong_by;
  });
}

TEST(Verification, OfLargeProblems) {
  const Verdict f32 = verdict_on_large<float, float>(Dtype::f32, 0);
  EXPECT_TRUE(f32.right) << f32.message;
  const Verdict f64 = verdict_on_large<double, double>(Dtype::f64, 0);
  EXPECT_TRUE(f64.right) << f64.message;
  const Verdict i32 = verdict_on_large<std::uint32_t, std::uint32_t>(Dtype::i32, 0);
  EXPECT_TRUE(i32.right) << i32.message;
}

TEST(Verification, OfLargeProblemsCatchesOneElement) {
  EXPECT_FALSE((verdict_on_large<float, float>(Dtype::f32, 1).right));
  EXPECT_FALSE((verdict_on_large<double, double>(Dtype::f64, 1).right));
  EXPECT_FALSE((verdict_on_large<std::uint32_t, std::uint32_t>(Dtype::i32, 1).right));
}

TEST(Verification, SaysWhatWasWrong) {
  GemmCase problem({.m = 2, .n = 2, .k = 1, .values = Values::integers});
  const Verdict verdict = verify(problem, [&](const GemmCall& call) {
    gemm_mutants()[0].run(call.typed<float, float>());
    static_cast<float*>(call.c.data)[3] = 100;
  });
  EXPECT_TRUE(verdict.message.starts_with(
      "f32 nn 2x2x1 alpha=1 beta=0 integers: C(1, 1) is 100, expected "))
      << verdict.message;
}

}  // namespace
}  // namespace rung
