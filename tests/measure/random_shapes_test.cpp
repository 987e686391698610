// Random shapes: the same on every machine, within their limits, and distributed as documented.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "tools/measure/random/random_bench.hpp"
#include "tools/measure/random/ratio_statistics.hpp"
#include "tools/measure/random/shapes.hpp"

namespace rung {
namespace {

using Extents = std::array<std::int64_t, 3>;

Extents extents_of(const Size& size) { return {size.m, size.n, size.k}; }

std::vector<Extents> draw(int count, Dtype dtype = Dtype::f32, const DrawLimits& limits = {},
                          std::uint64_t seed = 1) {
  std::vector<Extents> shapes;
  for (int i = 0; i < count; ++i) {
    shapes.push_back(extents_of(draw_shape(seed, static_cast<std::uint64_t>(i), dtype, limits)));
  }
  return shapes;
}

bool are_multiples(const Extents& extents, std::int64_t of) {
  return std::all_of(extents.begin(), extents.end(),
                     [&](std::int64_t extent) { return extent % of == 0; });
}

double share(const std::vector<Extents>& shapes, std::int64_t multiple) {
  const auto count = std::count_if(shapes.begin(), shapes.end(), [&](const Extents& extents) {
    return are_multiples(extents, multiple);
  });
  return static_cast<double>(count) / static_cast<double>(shapes.size());
}

TEST(RandomShapes, AreTheSameOnEveryMachine) {
  const std::vector<Extents> expected = {
      Extents{16, 544, 4464},    Extents{8192, 16, 3008}, Extents{377, 38, 171},
      Extents{3264, 320, 1088},  Extents{4648, 40, 24},   Extents{320, 192, 6464},
      Extents{5841, 226, 89},    Extents{4, 270, 377},    Extents{1600, 4608, 10496},
      Extents{12248, 240, 1576}, Extents{1280, 64, 384},  Extents{237, 264, 16}};
  EXPECT_EQ(draw(static_cast<int>(expected.size())), expected);
  EXPECT_NE(draw(4, Dtype::f32, {}, 2), draw(4));
}

TEST(RandomShapes, OfTwoTypesDifferOnlyWhereOneIsTooLarge) {
  const auto narrow = draw(2000, Dtype::bf16_bf16);
  const auto wide = draw(2000, Dtype::f64);
  int different = 0;
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    if (narrow[i] == wide[i]) continue;
    ++different;
    const auto [m, n, k] = narrow[i];
    const double flops = gemm_flops({m, n, k});
    EXPECT_TRUE(flops > 5e11 || gemm_bytes({m, n, k}, Dtype::f64) > 4e9)
        << m << " " << n << " " << k;
  }
  EXPECT_GT(different, 0);
  EXPECT_LT(different, 200);
}

TEST(RandomShapes, StayWithinTheirLimits) {
  for (const Dtype dtype : all_dtypes) {
    for (const auto& [m, n, k] : draw(2000, dtype)) {
      const Size size = {m, n, k};
      EXPECT_GE(std::min({m, n, k}), 1);
      EXPECT_LE(std::max({m, n, k}), 16384);
      EXPECT_LE(gemm_bytes(size, dtype), 4e9);
      EXPECT_LE(gemm_flops(size), 16e12);
    }
  }
  for (const auto& [m, n, k] : draw(2000, Dtype::f64)) EXPECT_LE(gemm_flops({m, n, k}), 5e11);
}

TEST(RandomShapes, ReachTheLargestSizeAndNoMore) {
  for (const std::int64_t most : {1, 5, 8, 63, 64, 100, 20000}) {
    std::int64_t largest = 0;
    std::int64_t least = most;
    for (const auto& [m, n, k] : draw(5000, Dtype::f32, {.max_size = most})) {
      largest = std::max({largest, m, n, k});
      least = std::min({least, m, n, k});
    }
    EXPECT_LE(largest, most);
    EXPECT_GE(largest, most - most / 10);
    EXPECT_EQ(least, 1);
  }
}

TEST(RandomShapes, HaveTheDocumentedMultiples) {
  const auto shapes = draw(20000, Dtype::bf16);
  EXPECT_NEAR(share(shapes, 64), 0.5, 0.02);
  // The multiples of 64, three in ten in multiples of 8, and by chance one in 512 of the rest.
  EXPECT_NEAR(share(shapes, 8), 0.8, 0.02);
}

TEST(RandomShapes, AreLogUniform) {
  // Small shapes, which no limit truncates, and multiples of 1 only.
  std::array<int, 6> octaves = {};
  int count = 0;
  for (const Extents& extents : draw(20000, Dtype::bf16, {.max_size = 1 << 10})) {
    if (are_multiples(extents, 2)) continue;
    for (const std::int64_t extent : extents) {
      // From 2^4 on, where rounding to integers hardly matters.
      if (extent < 16 || extent >= 1024) continue;
      ++octaves.at(static_cast<std::size_t>(std::log2(static_cast<double>(extent))) - 4);
      ++count;
    }
  }
  ASSERT_GT(count, 4000);
  for (const int octave : octaves) EXPECT_NEAR(static_cast<double>(octave) / count, 1 / 6.0, 0.02);
}

TEST(RandomShapes, CountTheBytesOfBothTypes) {
  EXPECT_EQ(gemm_flops({2, 3, 5}), 60);
  EXPECT_EQ(gemm_bytes({2, 3, 5}, Dtype::bf16), (10 + 15) * 2 + 6 * 4);
  EXPECT_EQ(gemm_bytes({2, 3, 5}, Dtype::bf16_bf16), (10 + 15 + 6) * 2);
}

TEST(RandomStatistics, AreExactOnHandMadeRatios) {
  const std::vector<double> ratios = {2, 0.5, 1};
  const RatioStatistics statistics = ratio_statistics(ratios);
  EXPECT_EQ(statistics.count, 3u);
  EXPECT_DOUBLE_EQ(statistics.geometric_mean, 1);
  EXPECT_EQ(statistics.median, 1);
  EXPECT_DOUBLE_EQ(statistics.fifth_percentile, 0.55);
  EXPECT_EQ(statistics.worst, 0.5);
  EXPECT_EQ(statistics.below, 1u);
  // A ratio at the limit is not below it.
  EXPECT_EQ(ratio_statistics(std::vector<double>{0.9, 0.89}).below, 1u);
  EXPECT_EQ(ratio_statistics({}).count, 0u);
  EXPECT_EQ(ratio_statistics({}).geometric_mean, 0);
}

TEST(RandomStatistics, AreExactOnHandMadeRegrets) {
  const RegretStatistics statistics = regret_statistics(std::vector<double>{1.21, 1});
  EXPECT_EQ(statistics.count, 2u);
  EXPECT_DOUBLE_EQ(statistics.geometric_mean, 1.1);
  EXPECT_DOUBLE_EQ(statistics.ninety_fifth_percentile, 1.1995);
  EXPECT_EQ(regret_statistics({}).count, 0u);
}

TEST(RandomStatistics, TheFastestPeerCounts) {
  RandomResult result;
  EXPECT_EQ(result.ratio(), 0);
  result.peers = {
      {.peer = "slow", .ratio = 1.5}, {.peer = "absent"}, {.peer = "fast", .ratio = 0.8}};
  EXPECT_EQ(result.ratio(), 0.8);
}

PlanTime timed(double seconds, bool is_finalist = false, bool is_chosen = false) {
  PlanTime time;
  time.seconds = seconds;
  time.is_finalist = is_finalist;
  time.is_chosen = is_chosen;
  return time;
}

TEST(Regret, ComparesFinalistsAlone) {
  // The second was faster in the short round, whose times are not comparable.
  const std::vector<PlanTime> plans = {timed(3, true, true), timed(1), timed(2, true), timed(0)};
  EXPECT_EQ(fastest(plans), 2u);
  EXPECT_EQ(regret(plans), 1.5);
}

TEST(Regret, OfAShortRoundAlone) {
  EXPECT_EQ(regret({timed(3, false, true), timed(2)}), 1.5);
  EXPECT_EQ(regret({timed(2, false, true)}), 1);
}

TEST(Regret, IsUnknownWithoutTheChosenPlan) {
  EXPECT_EQ(regret({timed(3), timed(2)}), 0);
  EXPECT_EQ(regret({timed(0, false, true), timed(2)}), 0);
  EXPECT_EQ(regret({}), 0);
  EXPECT_EQ(fastest({}), 0u);
  EXPECT_EQ(fastest({timed(0)}), 1u);
}

}  // namespace
}  // namespace rung
