// The precision of the sums of tcgen05.mma: what is truncated below the largest terms.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "vgpu/engine/tensor_memory/window_sums.hpp"

namespace rung::vgpu {
namespace {

/// A product in one column: elements of a row times 1, each with its scale and the exponents of the encodings.
struct WindowProduct {
  int k;
  double element;
  int least_exponent;
  double scale;
  int scale_exponent;
};

float window_sum(Window window, float c, const std::vector<WindowProduct>& products) {
  WindowLine a, b;
  for (int k = 0; k < 64; ++k) {
    a.set(k, 0, 0, 1, 0);
    b.set(k, 1, 0, 1, 0);
  }
  for (const WindowProduct& it : products) {
    a.set(it.k, it.element, it.least_exponent, it.scale, it.scale_exponent);
  }
  WindowColumns columns{};
  columns.set(0, b, 64);
  float sums[window_lanes] = {c};
  add_window(
      {window, tcgen05_sum_rule(MatrixElement::e4m3, MatrixElement::e4m3, MatrixElement::f32), 64,
       false},
      a, columns, sums);
  return sums[0];
}

TEST(WindowSumsTest, TruncateBelowTheLargestExponent) {
  // The exponent of 1/4 as a subnormal e3m2 is -2, so that 25 bits end at 2^-27; of e2m1, 0, and they end at 2^-25.
  EXPECT_EQ(window_sum(Window::plain, -0x1p-26f, {{0, 0.25, -2, 1, 0}}), 0.25f - 0x1p-26f);
  EXPECT_EQ(window_sum(Window::plain, -0x1p-26f, {{0, 0.25, 0, 1, 0}}), 0.25f);
  // Terms are truncated one by one.
  EXPECT_EQ(window_sum(Window::plain, -1,
                       {{0, 1, 0, 1, 0}, {1, 1, 0, 0x1p-26, -26}, {2, 1, 0, 0x1p-26, -26}}),
            0);
  EXPECT_EQ(window_sum(Window::plain, -1, {{0, 1, 0, 1, 0}, {40, 1, 0, 0x1p-25, -25}}), 0x1p-25f);
}

TEST(WindowSumsTest, FourBitElementsHaveWiderWindows) {
  // 35 bits below the largest pair of scales.
  const auto mxf4 = [](int bits) {
    const double scale = std::ldexp(1.0, -bits);
    return window_sum(Window::mxf4, 0,
                      {{0, 1, 0, 1, 0}, {1, -1, 0, 1, 0}, {16, 1, 0, scale, -bits}});
  };
  EXPECT_EQ(mxf4(35), 0x1p-35f);
  EXPECT_EQ(mxf4(36), 0);
  // Sixteen products are summed before they are truncated, or four with ue4m3 scales.
  const auto pair = [](Window window, int first, int second) {
    return window_sum(window, 0,
                      {{0, 1, 0, 1, 0},
                       {1, -1, 0, 1, 0},
                       {first, 1, 0, 0x1p-36, -36},
                       {second, 1, 0, 0x1p-36, -36}});
  };
  EXPECT_EQ(pair(Window::mxf4, 16, 31), 0x1p-35f);
  EXPECT_EQ(pair(Window::mxf4, 31, 32), 0);
  EXPECT_EQ(pair(Window::nvfp4, 20, 23), 0x1p-35f);
  EXPECT_EQ(pair(Window::nvfp4, 23, 24), 0);
  // A larger C narrows the window to 35 bits below it, for groups of 16.
  const auto with_c = [](int bits) {
    const double scale = std::ldexp(1.0, -bits);
    return window_sum(Window::nvfp4, 2,
                      {{0, 1, 0, 1, 0}, {1, -3, 0, 1, 0}, {16, 1, 0, scale, -bits}});
  };
  EXPECT_EQ(with_c(34), 0x1p-34f);
  EXPECT_EQ(with_c(35), 0);
}

}  // namespace
}  // namespace rung::vgpu
