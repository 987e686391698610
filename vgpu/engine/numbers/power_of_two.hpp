#pragma once
// 2^x for f32, in double precision: 2^n times the Taylor series of 2^f, where n is the nearest
// integer and f = x - n. Translated code and handlers use the same steps, so their results have the
// same bits.

#include <array>

namespace rung::vgpu {

struct PowerOfTwo {
  /// Outside this range, results are 0 or infinite in f32.
  static constexpr double low = -200, high = 200;
  /// log(2)^k / k!. The remainder is below 2^-47 for |f| <= 1/2.
  static constexpr std::array<double, 12> coefficients = {
      0x1.0000000000000p+0,  0x1.62e42fefa39efp-1,  0x1.ebfbdff82c58fp-3,  0x1.c6b08d704a0c0p-5,
      0x1.3b2ab6fba4e77p-7,  0x1.5d87fe78a6731p-10, 0x1.430912f86c787p-13, 0x1.ffcbfc588b0c7p-17,
      0x1.62c0223a5c824p-20, 0x1.b5253d395e7c4p-24, 0x1.e4cf5158b8ecap-28, 0x1.e8cac7351bb25p-32};
};

}  // namespace rung::vgpu
