#include "rung/matrix.hpp"

#include <gtest/gtest.h>

#include <type_traits>

namespace rung {
namespace {

TEST(MatrixView, LeadingDimensionDefaultsToTheLineLength) {
  float data[6];
  EXPECT_EQ(row_major(data, 2, 3).ld, 3);
  EXPECT_EQ(col_major(data, 2, 3).ld, 2);
  EXPECT_EQ(row_major(data, 1, 3, 5).ld, 5);
}

TEST(MatrixView, TransposedReadsTheSameElements) {
  float data[6];
  const auto view = transposed(row_major(data, 2, 3, 3));
  EXPECT_EQ(view.data, data);
  EXPECT_EQ(view.rows, 3);
  EXPECT_EQ(view.cols, 2);
  EXPECT_EQ(view.ld, 3);
  EXPECT_EQ(view.order, Order::col_major);
  EXPECT_EQ(transposed(view).order, Order::row_major);
}

TEST(MatrixView, OfMutableElementsConvertsToOneOfConstElementsOnly) {
  static_assert(std::is_convertible_v<MatrixView<float>, MatrixView<const float>>);
  static_assert(!std::is_convertible_v<MatrixView<const float>, MatrixView<float>>);
  static_assert(!std::is_convertible_v<MatrixView<float>, MatrixView<const double>>);
  float data[6];
  const MatrixView<const float> view = col_major(data, 2, 3);
  EXPECT_EQ(view.data, data);
  EXPECT_EQ(view.order, Order::col_major);
}

}  // namespace
}  // namespace rung
