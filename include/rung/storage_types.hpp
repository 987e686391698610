#pragma once
// The storage of element types missing from C++. Their conversions are in rung/types.hpp, which
// programs include.

#include <cstdint>

namespace rung {

/// bfloat16: the upper half of an IEEE-754 binary32 (8 exponent bits, 7 stored significand bits).
struct bfloat16 {
  std::uint16_t bits = 0;

  bfloat16() = default;
  /// Rounds to nearest, ties to even; NaN stays NaN.
  explicit bfloat16(float value);
  explicit operator float() const;
};

/// IEEE-754 binary16 (5 exponent bits, 10 stored significand bits).
struct float16 {
  std::uint16_t bits = 0;

  float16() = default;
  /// Rounds to nearest, ties to even; overflow goes to infinity; NaN stays NaN.
  explicit float16(float value);
  explicit operator float() const;
};

/// TensorFloat-32, an input format of tensor cores: 8 exponent bits and 10 stored significand bits.
/// It is stored as an ordinary float; products round it to nearest when they read it.
struct tfloat32 {
  float value = 0;

  tfloat32() = default;
  explicit tfloat32(float number) : value(number) {}
  explicit operator float() const { return value; }
};

/// E4M3 of the OCP 8-bit floating point specification (4 exponent bits, 3 stored significand bits):
/// up to 448, no infinity.
struct float8_e4m3 {
  std::uint8_t bits = 0;

  float8_e4m3() = default;
  /// Rounds to nearest, ties to even. Values that are too large, including infinity, become 448;
  /// NaN stays NaN.
  explicit float8_e4m3(float value);
  explicit operator float() const;
};

/// E5M2 of the OCP specification: the upper half of an IEEE-754 binary16 (5 exponent bits, 2 stored
/// significand bits).
struct float8_e5m2 {
  std::uint8_t bits = 0;

  float8_e5m2() = default;
  /// Rounds to nearest, ties to even; overflow goes to infinity; NaN stays NaN.
  explicit float8_e5m2(float value);
  explicit operator float() const;
};

}  // namespace rung
