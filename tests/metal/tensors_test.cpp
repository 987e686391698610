// Compiles and runs tensors.metal: products of integers, which are exact in any order.

#include <gtest/gtest.h>

#include <algorithm>

#include "kernel_test.hpp"
#include "rung/types.hpp"

namespace rung::metal_tests {
namespace {

class MetalTensors : public KernelTest<MetalTensors> {
 public:
  static constexpr const char* file = "tensors.metal";
};

struct Matrix {
  std::size_t rows, cols;
  std::vector<float> elements;

  float at(std::size_t row, std::size_t col) const { return elements[row * cols + col]; }
};

/// Small integers that differ between neighbours.
Matrix integers(std::size_t rows, std::size_t cols, std::size_t seed) {
  Matrix matrix{rows, cols, {}};
  for (std::size_t i = 0; i < rows * cols; ++i) {
    matrix.elements.push_back(static_cast<float>((i * 7 + i / cols * 3 + seed) % 11) - 5);
  }
  return matrix;
}

Matrix transposed(const Matrix& of) {
  Matrix matrix{of.cols, of.rows, {}};
  for (std::size_t row = 0; row < of.cols; ++row) {
    for (std::size_t col = 0; col < of.rows; ++col) matrix.elements.push_back(of.at(col, row));
  }
  return matrix;
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c{a.rows, b.cols, std::vector<float>(a.rows * b.cols)};
  for (std::size_t row = 0; row < a.rows; ++row) {
    for (std::size_t col = 0; col < b.cols; ++col) {
      for (std::size_t k = 0; k < a.cols; ++k) {
        c.elements[row * b.cols + col] += a.at(row, k) * b.at(k, col);
      }
    }
  }
  return c;
}

template <class T>
std::vector<T> converted(const Matrix& matrix) {
  std::vector<T> result;
  for (const float element : matrix.elements) result.push_back(static_cast<T>(element));
  return result;
}

TEST_F(MetalTensors, SlicesEndWhereTheTensorsEnd) {
  const Matrix a = integers(70, 21, 1), b = integers(21, 37, 2);
  const auto c = array(std::vector<float>(70 * 37, -1.0f));
  run("sliced", {3, 3}, {64},
      {array(converted<float16>(a)), array(converted<float16>(b)), c,
       array(std::vector<std::int32_t>{70, 37, 21})});
  EXPECT_EQ(values<float>(c, 70 * 37), product(a, b).elements);
}

TEST_F(MetalTensors, CooperativeTensorsAccumulateAndAreChanged) {
  const Matrix a = integers(24, 19, 3), b = integers(19, 13, 4);
  const auto c = array(std::vector<float>(24 * 13));
  run("stepped", {1}, {128},
      {array(transposed(a).elements), array(transposed(b).elements), c,
       array(std::vector<std::int32_t>{24, 13, 19})});
  Matrix expected = product(a, b);
  for (std::size_t i = 0; i < expected.elements.size(); ++i) {
    expected.elements[i] *= static_cast<float>(1 + i / 13 % 2);
  }
  EXPECT_EQ(values<float>(c, 24 * 13), expected.elements);
}

TEST_F(MetalTensors, OperandsInRegistersHaveTheLayoutOfPublicKernels) {
  const Matrix a = integers(16, 16, 5), b = integers(16, 32, 6);
  Matrix expected = product(a, b);
  for (float& element : expected.elements) ++element;
  for (const bool left : {false, true}) {
    for (const bool right : {false, true}) {
      const std::string name = std::string("registers_") + (left ? "t" : "n") + (right ? "t" : "n");
      const auto c = array(std::vector<float>(16 * 32));
      run(name, {1}, {32},
          {array(left ? transposed(a).elements : a.elements),
           array(right ? transposed(b).elements : b.elements), c});
      EXPECT_EQ(values<float>(c, 16 * 32), expected.elements) << name;
    }
  }
}

TEST_F(MetalTensors, RowsAndColumnsAreReduced) {
  const Matrix a = integers(16, 16, 7), b = integers(16, 32, 8);
  const Matrix c = product(a, b);
  std::vector<std::int32_t> less, sums(32);
  for (std::size_t i = 0; i < 16 * 32; ++i) {
    const auto row = c.elements.begin() + static_cast<std::ptrdiff_t>(i / 32 * 32);
    less.push_back(static_cast<std::int32_t>(c.elements[i] - *std::max_element(row, row + 32)));
    sums[i % 32] += static_cast<std::int32_t>(c.elements[i]);
  }
  const auto out = array(std::vector<std::int32_t>(16 * 32)), cols = array(sums);
  run("reduced", {1}, {32},
      {array(converted<std::int8_t>(a)), array(converted<std::int8_t>(b)), out, cols});
  EXPECT_EQ(values<std::int32_t>(out, 16 * 32), less);
  EXPECT_EQ(values<std::int32_t>(cols, 32), sums);
}

TEST_F(MetalTensors, OneThreadMultipliesAndAccessesElements) {
  const auto c = array(std::vector<float>(6));
  run("by_thread", {1}, {1}, {array(std::vector<float>{1, 2, 3, 4, 5, 6}), c});
  // A[2, 1] = 6, elements outside are 0, and 3 is both the extent and the stride of a row.
  EXPECT_EQ(values<float>(c, 6), (std::vector<float>{22, 28, 49, 64, 12, 0}));
}

TEST_F(MetalTensors, AccessesHaveTheHazardsOfOthers) {
  const auto a = array(integers(8, 8, 9).elements);
  const auto beyond = hazards("beyond", {1}, {32}, {a, array(std::vector<float>(64))});
  ASSERT_FALSE(beyond.empty());
  EXPECT_EQ(beyond[0].kind, vgpu::HazardKind::out_of_bounds);
  const auto race = hazards("without_barrier", {1}, {32}, {a, array(std::vector<float>(64))});
  ASSERT_FALSE(race.empty());
  EXPECT_EQ(race[0].kind, vgpu::HazardKind::shared_race);
}

}  // namespace
}  // namespace rung::metal_tests
