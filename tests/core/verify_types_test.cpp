// Verification of gemm for every type: accepts results within the type's error bound, rejects
// others.

#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "core/batch.hpp"
#include "core/standard_cases.hpp"
#include "core/verify.hpp"
#include "rung/types.hpp"

namespace rung {
namespace {

/// A straightforward product. `in` converts an element to a factor, `out` a sum to a stored result.
template <class In, class Out, class FromIn, class ToOut>
void multiply(const Gemm<In, Out>& g, const FromIn& in, const ToOut& out) {
  using Sum = Scalar<Out>;
  for (std::int64_t i = 0; i < g.m; ++i) {
    for (std::int64_t j = 0; j < g.n; ++j) {
      Sum sum = 0;
      for (std::int64_t k = 0; k < g.k; ++k) sum += in(g.a(i, k)) * in(g.b(k, j));
      Out& c = g.c(i, j);
      c = out(g.beta == Sum{0} ? g.alpha * sum : g.alpha * sum + g.beta * static_cast<Sum>(c));
    }
  }
}

float cut(float value, int bits) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & (~0u << bits));
}
float round_to_tf32(float value) {
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) + 0x1000u) & 0xFFFFE000u);
}

/// The first standard case with a wrong result; empty if all are right.
template <class Run>
std::string first_wrong(Dtype dtype, const Run& run) {
  for (const GemmSpec& spec : standard_gemm_cases(dtype, Effort::quick)) {
    GemmCase problem(spec);
    const Verdict verdict = verify(problem, run);
    if (!verdict.right) return verdict.message;
  }
  return "";
}

class EveryDtype : public testing::TestWithParam<Dtype> {};

TEST_P(EveryDtype, IsRightIfSummedPlainly) {
  EXPECT_EQ(first_wrong(GetParam(),
                        [](const GemmCall& call) {
                          visit(call.dtype, [&]<class In, class Out>(Elements<In, Out>) {
                            multiply(
                                call.typed<In, Out>(),
                                [](In x) { return static_cast<Scalar<Out>>(x); },
                                [](Scalar<Out> sum) { return static_cast<Out>(sum); });
                          });
                        }),
            "");
}

INSTANTIATE_TEST_SUITE_P(All, EveryDtype, testing::ValuesIn(all_dtypes),
                         [](const auto& of) { return std::string(identifier(of.param)); });

TEST(VerifyTypes, Tf32IsRightIfRoundedAndWrongIfCut) {
  const auto with = [](float (*narrow)(float)) {
    return first_wrong(Dtype::tf32, [narrow](const GemmCall& call) {
      multiply(
          call.typed<tfloat32, float>(), [narrow](tfloat32 x) { return narrow(x.value); },
          [](float sum) { return sum; });
    });
  };
  EXPECT_EQ(with(round_to_tf32), "");
  EXPECT_NE(with([](float value) { return cut(value, 13); }), "");
  EXPECT_NE(with([](float value) { return static_cast<float>(bfloat16(value)); }), "");
}

TEST(VerifyTypes, ResultsOf16BitsAreWrongIfCut) {
  EXPECT_NE(first_wrong(Dtype::bf16_bf16,
                        [](const GemmCall& call) {
                          multiply(
                              call.typed<bfloat16, bfloat16>(),
                              [](bfloat16 x) { return static_cast<float>(x); },
                              [](float sum) { return bfloat16(cut(sum, 16)); });
                        }),
            "");
}

TEST(VerifyTypes, IntegersAreWrongIfTheyStopAtTheLargest) {
  EXPECT_NE(first_wrong(Dtype::i8,
                        [](const GemmCall& call) {
                          multiply(
                              call.typed<std::int8_t, std::uint32_t>(),
                              [](std::int8_t x) {
                                return static_cast<std::uint32_t>(x < -127 ? -127 : x);
                              },
                              [](std::uint32_t sum) { return sum; });
                        }),
            "");
}

TEST(VerifyTypes, OneOfTheNarrowElementsLeftOutIsWrong) {
  for (const Dtype dtype : {Dtype::e4m3, Dtype::e5m2}) {
    EXPECT_NE(first_wrong(dtype,
                          [](const GemmCall& call) {
                            visit(call.dtype, [&]<class In, class Out>(Elements<In, Out>) {
                              if constexpr (std::is_same_v<Out, float> && sizeof(In) == 1) {
                                Gemm<In, Out> g = call.typed<In, Out>();
                                if (g.k > 1) --g.k;
                                multiply(
                                    g, [](In x) { return static_cast<float>(x); },
                                    [](float sum) { return sum; });
                              }
                            });
                          }),
              "");
  }
}

TEST(VerifyTypes, LargeProblemsOfEveryType) {
  for (const Dtype dtype : {Dtype::i8, Dtype::bf16_bf16, Dtype::e5m2}) {
    for (const bool right : {true, false}) {
      GemmCase problem({.dtype = dtype, .m = 300, .n = 600, .k = 400, .beta = 2});
      const Verdict verdict = verify(problem, [&](const GemmCall& call) {
        visit(call.dtype, [&]<class In, class Out>(Elements<In, Out>) {
          const Gemm<In, Out> g = call.typed<In, Out>();
          using Sum = Scalar<Out>;
          std::vector<Sum> sums(static_cast<std::size_t>(g.n));
          for (std::int64_t i = 0; i < g.m; ++i) {
            std::fill(sums.begin(), sums.end(), Sum{0});
            for (std::int64_t k = 0; k < g.k; ++k) {
              const auto a = static_cast<Sum>(g.a(i, k));
              for (std::int64_t j = 0; j < g.n; ++j) sums[j] += a * static_cast<Sum>(g.b(k, j));
            }
            if (!right && i == 150) sums[200] += 250;
            for (std::int64_t j = 0; j < g.n; ++j) {
              g.c(i, j) = static_cast<Out>(sums[j] + g.beta * static_cast<Sum>(g.c(i, j)));
            }
          }
        });
      });
      EXPECT_EQ(verdict.right, right) << name(dtype) << ": " << verdict.message;
    }
  }
}

// Only all products together are too large for a full check: verify() samples each of them.
TEST(VerifyTypes, AnElementOfALargeBatchIsWrong) {
  for (const bool right : {true, false}) {
    GemmCase problem({.dtype = Dtype::i32, .m = 120, .n = 120, .k = 120, .batch = 40});
    const Verdict verdict = verify(problem, [&](GemmCall call) {
      for (int product = 0; product < 40; ++product) {
        const auto g = call.typed<std::int32_t, std::int32_t>();
        multiply(
            g, [](std::int32_t x) { return static_cast<std::uint32_t>(x); },
            [](std::uint32_t sum) { return static_cast<std::int32_t>(sum); });
        if (!right && product == 23) ++g.c(33, 7);
        advance(call, 1);
      }
    });
    EXPECT_EQ(verdict.right, right) << verdict.message;
    const bool is_named = verdict.message.find("product 23: row 33") != std::string::npos;
    EXPECT_NE(is_named, right) << verdict.message;
  }
}

}  // namespace
}  // namespace rung
