// Block formats: the values of blocks, and operands of problems that consist of them.

#include "core/quantize.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/case.hpp"
#include "core/random.hpp"
#include "rung/types.hpp"

namespace rung {
namespace {

std::vector<float> quantized(BlockFormat format, std::vector<float> row) {
  quantize(format, row);
  return row;
}

TEST(Quantize, RoundsElementsOfFourBitsToNearestEven) {
  // The largest element, 6, makes the scale 1.
  EXPECT_EQ(quantized(BlockFormat::nvfp4,
                      {6, 0.25f, 0.26f, 0.75f, 1.25f, 1.75f, 2.5f, -2.6f, 3.5f, -5, 5.1f}),
            (std::vector<float>{6, 0, 0.5f, 1, 1, 2, 2, -3, 4, -4, 6}));
}

TEST(Quantize, ScalesOfFourBitsAreASixthOfTheLargest) {
  // 7 / 6 rounds to 1.125 in e4m3, and 7 / 1.125 to 6.
  EXPECT_EQ(quantized(BlockFormat::nvfp4, {7, 1.2f}), (std::vector<float>{6.75f, 1.125f}));
  // A second block has a scale of its own.
  std::vector<float> row(17, 6);
  row[16] = 0.09375f;  // 6 / 64
  EXPECT_EQ(quantized(BlockFormat::nvfp4, row), row);
}

TEST(Quantize, ScalesOfEightBitsArePowersOfTwo) {
  // Up to 448 the scale is 1, and integers above 16 lose bits; above 448 it is 2.
  EXPECT_EQ(quantized(BlockFormat::mxfp8, {448, 17, 1.0625f}), (std::vector<float>{448, 16, 1}));
  EXPECT_EQ(quantized(BlockFormat::mxfp8, {449, 34, 0.001953125f}),
            (std::vector<float>{448, 32, 0}));
  EXPECT_EQ(quantized(BlockFormat::mxfp8, {0, 0}), (std::vector<float>{0, 0}));
}

TEST(Quantize, BlocksWithoutFiniteElementsAreNaN) {
  for (const BlockFormat format : {BlockFormat::mxfp8, BlockFormat::nvfp4}) {
    for (const float x : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
      std::vector<float> row(2 * static_cast<std::size_t>(elements_of_block(format)), 1);
      row[1] = x;
      row = quantized(format, row);
      const auto middle = row.begin() + elements_of_block(format);
      EXPECT_TRUE(std::all_of(row.begin(), middle, [](float y) { return std::isnan(y); }));
      EXPECT_TRUE(std::none_of(middle, row.end(), [](float y) { return std::isnan(y); }));
    }
  }
}

TEST(Quantize, KeepsValuesOfTheFormat) {
  for (const BlockFormat format : {BlockFormat::mxfp8, BlockFormat::nvfp4}) {
    for (const Values values : {Values::reals, Values::wide, Values::integers}) {
      std::vector<float> row(1000);
      for (std::size_t i = 0; i < row.size(); ++i) {
        row[i] =
            static_cast<float>(random_element<bfloat16>(values, 7, static_cast<std::int64_t>(i)));
      }
      const std::vector<float> once = quantized(format, row);
      if (values == Values::reals) {
        EXPECT_NE(once, row);
      }
      EXPECT_EQ(quantized(format, once), once);
      for (const float x : once) EXPECT_EQ(static_cast<float>(bfloat16(x)), x);
    }
  }
}

TEST(Quantize, ProblemsKeepTheirValuesWhenTheyAreQuantizedAgain) {
  // Blocks of one element, whose scale is often subnormal.
  GemmCase problem({.dtype = Dtype::f32, .m = 400, .n = 1, .k = 17});
  problem.set_format(BlockFormat::nvfp4);
  const auto g = problem.call().typed<float, float>();
  for (std::int64_t row = 0; row < g.m; ++row) {
    std::vector<float> values(g.a.data + row * g.k, g.a.data + (row + 1) * g.k);
    EXPECT_EQ(quantized(BlockFormat::nvfp4, values), values);
  }
}

TEST(Quantize, RungsNameTheirFormat) {
  EXPECT_EQ(block_format("sm_100a, operands in mxfp8; others are rounded to it"),
            BlockFormat::mxfp8);
  EXPECT_EQ(block_format("sm_100a, operands in nvfp4"), BlockFormat::nvfp4);
  EXPECT_EQ(block_format("sm_100a"), BlockFormat::none);
}

/// The rows of A, or the columns of B, of a product.
std::vector<std::vector<float>> rows_of(const Matrix<const bfloat16>& matrix, std::int64_t rows,
                                        std::int64_t length) {
  std::vector<std::vector<float>> result;
  for (std::int64_t row = 0; row < rows; ++row) {
    std::vector<float>& values = result.emplace_back();
    for (std::int64_t k = 0; k < length; ++k) {
      values.push_back(static_cast<float>(matrix(row, k)));
    }
  }
  return result;
}

TEST(Quantize, OperandsOfAProblemAreQuantizedAlongK) {
  for (const bool transposed : {false, true}) {
    const GemmSpec spec = {.dtype = Dtype::bf16,
                           .m = 3,
                           .n = 5,
                           .k = 37,
                           .a_transposed = transposed,
                           .b_transposed = !transposed,
                           .a_padding = 2,
                           .batch = 2,
                           .batch_gap = 1};
    const GemmCase plain(spec);
    GemmCase problem(spec);
    problem.set_format(BlockFormat::nvfp4);
    for (std::int64_t i = 0; i < spec.batch; ++i) {
      const auto g = problem.product(i).typed<bfloat16, float>();
      const auto original = plain.product(i).typed<bfloat16, float>();
      for (const auto& [got, from, rows] :
           {std::tuple(g.a, original.a, g.m),
            std::tuple(g.b.transposed(), original.b.transposed(), g.n)}) {
        std::vector<std::vector<float>> expected = rows_of(from, rows, g.k);
        for (std::vector<float>& row : expected) quantize(BlockFormat::nvfp4, row);
        EXPECT_EQ(rows_of(got, rows, g.k), expected);
      }
    }
    EXPECT_EQ(problem.a().broken_guard(), std::nullopt);
    EXPECT_EQ(problem.b().broken_guard(), std::nullopt);
    EXPECT_NE(describe(problem.spec()).find(" nvfp4"), std::string::npos);
    problem.set_format(BlockFormat::none);
    EXPECT_EQ(problem.a().fingerprint(), plain.a().fingerprint());
  }
}

}  // namespace
}  // namespace rung
