// The measured error of a product against exact sums, and the families of operands.

#include "core/errors.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/bound.hpp"

namespace rung {
namespace {

/// The exact product, rounded. C is so small that every element of it is measured.
GemmCase rounded_product(const GemmSpec& spec) {
  GemmCase problem(spec);
  const auto g = problem.call().typed<float, float>();
  for (std::int64_t row = 0; row < g.m; ++row) {
    for (std::int64_t col = 0; col < g.n; ++col) {
      ExactSum sum;
      for (std::int64_t k = 0; k < g.k; ++k) sum.add_product(g.a(row, k), g.b(k, col));
      g.c(row, col) = static_cast<float>(sum.value());
    }
  }
  return problem;
}

double sum_of_magnitudes(const Gemm<float>& g, std::int64_t row, std::int64_t col) {
  double sum = 0;
  for (std::int64_t k = 0; k < g.k; ++k) sum += std::abs(double{g.a(row, k)} * g.b(k, col));
  return sum;
}

TEST(ExactElements, ARoundedProductIsOffByItsRounding) {
  const GemmCase problem = rounded_product({.m = 7, .n = 9, .k = 33});
  const ElementErrors errors = ExactElements(problem).errors_of(problem);
  EXPECT_GT(errors.largest, 0);
  EXPECT_LE(errors.largest, 1);
  EXPECT_GT(errors.normwise, 0);
  EXPECT_LE(errors.normwise, 0x1p-24);
}

TEST(ExactElements, TheLastElementCounts) {
  const GemmCase problem = rounded_product({.m = 7, .n = 9, .k = 33});
  const ExactElements exact(problem);
  const auto g = problem.call().typed<float, float>();
  const double magnitude = sum_of_magnitudes(g, 6, 8);
  g.c(6, 8) += static_cast<float>(0x1p-10 * magnitude);
  const ElementErrors errors = exact.errors_of(problem);
  EXPECT_NEAR(errors.largest, 0x1p14, 2);
  double squares = 0;
  for (std::int64_t i = 0; i < 63; ++i) squares += std::pow(double{g.c(i / 9, i % 9)}, 2);
  const double expected = 0x1p-10 * magnitude / std::sqrt(squares);
  EXPECT_NEAR(errors.normwise, expected, 0.01 * expected);
}

TEST(ExactElements, WhatIsNotFiniteIsOffWithoutBound) {
  const GemmCase problem = rounded_product({.m = 2, .n = 2, .k = 3});
  const ExactElements exact(problem);
  problem.call().typed<float, float>().c(1, 0) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isinf(exact.errors_of(problem).largest));
  EXPECT_TRUE(std::isinf(exact.errors_of(problem).normwise));
}

TEST(ExactElements, OnlyOfPlainProductsOfReals) {
  EXPECT_TRUE(ExactElements::can_measure({.m = 1, .n = 1}));
  EXPECT_FALSE(ExactElements::can_measure({.m = 0, .n = 1}));
  EXPECT_FALSE(ExactElements::can_measure({.m = 1, .n = 1, .beta = 1}));
  EXPECT_FALSE(ExactElements::can_measure({.m = 1, .n = 1, .alpha = 2}));
  EXPECT_FALSE(ExactElements::can_measure({.dtype = Dtype::i8, .m = 1, .n = 1}));
}

TEST(Families, DoNotDependOnTheLayout) {
  for (const Family family :
       {Family::uniform, Family::normal, Family::wide, Family::cancelling, Family::spread}) {
    const GemmCase rows({.m = 5, .n = 4, .k = 7, .family = family});
    const GemmCase columns({.m = 5,
                            .n = 4,
                            .k = 7,
                            .a_transposed = true,
                            .b_transposed = true,
                            .a_padding = 3,
                            .family = family});
    const auto x = rows.call().typed<float, float>();
    const auto y = columns.call().typed<float, float>();
    for (std::int64_t k = 0; k < 7; ++k) {
      for (std::int64_t i = 0; i < 5; ++i) EXPECT_EQ(x.a(i, k), y.a(i, k)) << name(family);
      for (std::int64_t j = 0; j < 4; ++j) EXPECT_EQ(x.b(k, j), y.b(k, j)) << name(family);
    }
  }
}

TEST(Families, AreWhatTheirNamesSay) {
  const GemmCase uniform({.m = 40, .n = 40, .k = 50, .family = Family::uniform});
  const GemmCase normal({.m = 40, .n = 40, .k = 50, .family = Family::normal});
  const GemmCase wide({.m = 40, .n = 40, .k = 50, .family = Family::wide});
  double sum = 0, squares = 0, least = 1e30, most = 0;
  for (std::int64_t i = 0; i < 40; ++i) {
    double row = 0;
    for (std::int64_t k = 0; k < 50; ++k) {
      const float u = uniform.call().typed<float, float>().a(i, k);
      EXPECT_TRUE(u >= 0 && u <= 1);
      const double x = normal.call().typed<float, float>().a(i, k);
      sum += x;
      squares += x * x;
      row += std::abs(wide.call().typed<float, float>().a(i, k));
    }
    least = std::min(least, row);
    most = std::max(most, row);
  }
  EXPECT_NEAR(sum / 2000, 0, 0.1);
  EXPECT_NEAR(squares / 2000, 1, 0.15);
  EXPECT_GT(most / least, 1e18);
  const GemmCase spread({.m = 40, .n = 40, .k = 50, .family = Family::spread});
  double small = 0, large = 0;  // of 2000 elements
  for (std::int64_t i = 0; i < 2000; ++i) {
    const double x = std::abs(spread.call().typed<float, float>().a(i / 50, i % 50));
    small += x < 0x1p-8 ? 1 : 0;
    large += x > 0x1p4 ? 1 : 0;
  }
  EXPECT_NEAR(small / 2000, 0.15, 0.05);
  EXPECT_NEAR(large / 2000, 0.15, 0.05);
  const GemmCase cancelling({.m = 8, .n = 8, .k = 51, .family = Family::cancelling});
  const auto g = cancelling.call().typed<float, float>();
  ExactSum exact;
  for (std::int64_t k = 0; k < 51; ++k) exact.add_product(g.a(2, k), g.b(k, 3));
  EXPECT_NE(exact.value(), 0);
  EXPECT_LT(std::abs(exact.value()), 0x1p-15 * sum_of_magnitudes(g, 2, 3));
}

TEST(Families, NarrowTypesHaveTheTwoThatTheyCanHold) {
  EXPECT_TRUE(has_family(Dtype::f64, Family::wide));
  EXPECT_TRUE(has_family(Dtype::bf16, Family::normal));
  EXPECT_FALSE(has_family(Dtype::f16, Family::wide));
  EXPECT_FALSE(has_family(Dtype::bf16, Family::spread));
  EXPECT_FALSE(has_family(Dtype::bf16, Family::cancelling));
  EXPECT_FALSE(has_family(Dtype::i8, Family::uniform));
  EXPECT_TRUE(has_family(Dtype::i8, Family::symmetric));
}

}  // namespace
}  // namespace rung
