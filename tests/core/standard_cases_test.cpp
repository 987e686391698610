// Random problems stay within the requested limits and differ between seeds.

#include "core/standard_cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

namespace rung {
namespace {

TEST(RandomGemmCases, HaveSizesOfEveryMagnitude) {
  const auto specs = random_gemm_cases(Dtype::f16, 500, 0x1p40, 1);
  ASSERT_EQ(specs.size(), 500u);
  for (const GemmSpec& spec : specs) {
    for (const std::int64_t size : {spec.m, spec.n, spec.k}) {
      ASSERT_GE(size, 1);
      ASSERT_LE(size, 4095);
    }
  }
  const auto share = [&](std::int64_t from, std::int64_t to) {
    return std::count_if(specs.begin(), specs.end(),
                         [&](const GemmSpec& spec) { return from <= spec.k && spec.k < to; });
  };
  EXPECT_GT(share(1, 64), 200);
  EXPECT_GT(share(64, 4096), 200);
  EXPECT_GT(share(2048, 4096), 20);
}

TEST(RandomGemmCases, KeepToTheWork) {
  for (const GemmSpec& spec : random_gemm_cases(Dtype::f32, 200, 5000, 3)) {
    EXPECT_LE(spec.m * spec.n * spec.k, 5000);
  }
}

TEST(RandomGemmCases, DifferFromSeedToSeedAlone) {
  const auto texts = [](std::uint64_t seed) {
    std::multiset<std::string> result;
    for (const GemmSpec& spec : random_gemm_cases(Dtype::f32, 100, 0x1p30, seed)) {
      result.insert(describe(spec));
    }
    return result;
  };
  EXPECT_EQ(texts(5), texts(5));
  EXPECT_NE(texts(5), texts(6));
}

TEST(RandomDotCases, HaveIncrementsOfEverySign) {
  const auto specs = random_dot_cases(Dtype::f64, Accuracy::plain, 300, 2);
  ASSERT_EQ(specs.size(), 300u);
  for (const std::int64_t increment : {-3, 0, 1, 3}) {
    EXPECT_TRUE(std::any_of(specs.begin(), specs.end(),
                            [&](const DotSpec& spec) { return spec.incx == increment; }));
  }
}

}  // namespace
}  // namespace rung
