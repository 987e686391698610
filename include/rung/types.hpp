#pragma once
// The two 16-bit floating-point element types. Both are storage types: arithmetic happens in float.

#include <bit>
#include <cstdint>

namespace rung {

/// bfloat16: the upper half of an IEEE-754 binary32 (8 exponent bits, 7 stored significand bits).
struct bfloat16 {
  std::uint16_t bits = 0;

  bfloat16() = default;
  /// Rounds to nearest, ties to even; NaN stays NaN.
  explicit bfloat16(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    if (value != value) {
      bits = static_cast<std::uint16_t>((word >> 16) | 0x40u);
    } else {
      bits = static_cast<std::uint16_t>((word + 0x7FFFu + ((word >> 16) & 1u)) >> 16);
    }
  }
  explicit operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
};

/// IEEE-754 binary16 (5 exponent bits, 10 stored significand bits).
struct float16 {
  std::uint16_t bits = 0;

  float16() = default;
  /// Rounds to nearest, ties to even; overflow goes to infinity; NaN stays NaN.
  explicit float16(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (word >> 16) & 0x8000u;
    const std::uint32_t magnitude = word & 0x7FFFFFFFu;
    std::uint32_t half;
    if (magnitude > 0x7F800000u) {
      half = 0x7E00u;
    } else if (magnitude >= 0x477FF000u) {  // rounds to 2^16 or more
      half = 0x7C00u;
    } else if (magnitude >= 0x38800000u) {  // normal: rebias the exponent by 127 - 15
      half = (magnitude - 0x38000000u + 0x0FFFu + ((magnitude >> 13) & 1u)) >> 13;
    } else {  // subnormal or zero: adding 0.5 aligns the significand to 2^-24, and rounds it
      const float aligned = std::bit_cast<float>(magnitude) + 0.5f;
      half = std::bit_cast<std::uint32_t>(aligned) - 0x3F000000u;
    }
    bits = static_cast<std::uint16_t>(sign | half);
  }
  explicit operator float() const {
    const std::uint32_t sign = std::uint32_t{bits & 0x8000u} << 16;
    const std::uint32_t magnitude = bits & 0x7FFFu;
    if (magnitude >= 0x7C00u) {
      return std::bit_cast<float>(sign | 0x7F800000u | (magnitude << 13));
    }
    // Read as binary32, the shifted bits are the value times 2^-112; the product is exact.
    const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | sign);
  }
};

}  // namespace rung
