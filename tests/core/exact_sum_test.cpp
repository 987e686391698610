#include "core/exact_sum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/ill_conditioned.hpp"

namespace rung {
namespace {

TEST(ExactSum, KeepsWhatRoundingWouldLose) {
  ExactSum sum;
  EXPECT_EQ(sum.value(), 0);
  for (const double term : {0x1p1000, 1.0, 0x1p-1000, -0x1p1000, -1.0}) sum.add(term);
  EXPECT_EQ(sum.value(), 0x1p-1000);
}

TEST(ExactSum, KeepsTheLowHalfOfAProduct) {
  const double x = 1 + 0x1p-52;
  ExactSum sum;
  sum.add_product(x, x);  // 1 + 2^-51 + 2^-104
  sum.add(-1);
  sum.add(-0x1p-51);
  EXPECT_EQ(sum.value(), 0x1p-104);
}

TEST(IllConditioned, ComesNearTheConditionAskedFor) {
  for (const double condition : {1e6, 1e16, 1e30}) {
    std::vector<double> x(100), y(100);
    make_ill_conditioned<double>(x, y, condition, 3);
    ExactSum sum;
    double magnitude = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      sum.add_product(x[i], y[i]);
      magnitude += std::abs(x[i] * y[i]);
    }
    const double got = 2 * magnitude / std::abs(sum.value());
    EXPECT_LT(std::abs(std::log10(got / condition)), 3) << got;
  }
}

}  // namespace
}  // namespace rung
