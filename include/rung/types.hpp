#pragma once
// Element types missing from C++. All are storage types: convert them to float for arithmetic.

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

/// TensorFloat-32, an input format of tensor cores: 8 exponent bits and 10 stored significand bits.
/// It is stored as an ordinary float; a product rounds it to nearest when it is read.
struct tfloat32 {
  float value = 0;

  tfloat32() = default;
  explicit tfloat32(float number) : value(number) {}
  explicit operator float() const { return value; }
};

namespace detail {

/// The bits of |value|, finite, in an 8-bit format, rounded to nearest, ties to even. Values that
/// are too large map to bits above those of the largest number.
template <int SIGNIFICAND_BITS, int BIAS>
std::uint32_t narrowed(float value) {
  constexpr int dropped = 23 - SIGNIFICAND_BITS;
  constexpr std::uint32_t least_normal = static_cast<std::uint32_t>(128 - BIAS) << 23;
  const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFu;
  if (magnitude >= least_normal) {
    const std::uint32_t rebiased = magnitude - (static_cast<std::uint32_t>(127 - BIAS) << 23);
    return (rebiased + (1u << (dropped - 1)) - 1 + ((rebiased >> dropped) & 1u)) >> dropped;
  }
  // Subnormal or zero: the addition aligns the significand to the smallest number, and rounds it.
  constexpr std::uint32_t aligner = static_cast<std::uint32_t>(128 - BIAS + dropped) << 23;
  const float aligned = std::bit_cast<float>(magnitude) + std::bit_cast<float>(aligner);
  return std::bit_cast<std::uint32_t>(aligned) - aligner;
}

/// The value of the bits of a finite number in an 8-bit format, without the sign.
template <int SIGNIFICAND_BITS, int BIAS>
float widened(std::uint32_t bits) {
  constexpr std::uint32_t scale = static_cast<std::uint32_t>(254 - BIAS) << 23;  // 2^(127 - BIAS)
  return std::bit_cast<float>(bits << (23 - SIGNIFICAND_BITS)) * std::bit_cast<float>(scale);
}

}  // namespace detail

/// E4M3 of the OCP 8-bit floating point specification (4 exponent bits, 3 stored significand bits):
/// up to 448, no infinity.
struct float8_e4m3 {
  std::uint8_t bits = 0;

  float8_e4m3() = default;
  /// Rounds to nearest, ties to even. Values that are too large, infinity included, become 448; NaN
  /// stays NaN.
  explicit float8_e4m3(float value) {
    constexpr std::uint32_t largest = 0x7E;
    const std::uint32_t sign = std::bit_cast<std::uint32_t>(value) >> 24 & 0x80u;
    std::uint32_t byte = 0x7F;
    if (value == value) {
      byte = detail::narrowed<3, 7>(value);
      if (byte > largest) byte = largest;
    }
    bits = static_cast<std::uint8_t>(sign | byte);
  }
  explicit operator float() const {
    const std::uint32_t sign = std::uint32_t{bits & 0x80u} << 24;
    const std::uint32_t magnitude = bits & 0x7Fu;
    const float value =
        magnitude == 0x7F ? std::bit_cast<float>(0x7FC00000u) : detail::widened<3, 7>(magnitude);
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
  }
};

/// E5M2 of the OCP specification: the upper half of an IEEE-754 binary16 (5 exponent bits, 2 stored
/// significand bits).
struct float8_e5m2 {
  std::uint8_t bits = 0;

  float8_e5m2() = default;
  /// Rounds to nearest, ties to even; overflow goes to infinity; NaN stays NaN.
  explicit float8_e5m2(float value) {
    constexpr std::uint32_t infinity = 0x7C;
    const std::uint32_t sign = std::bit_cast<std::uint32_t>(value) >> 24 & 0x80u;
    std::uint32_t byte = 0x7E;
    if (value == value) {
      byte = detail::narrowed<2, 15>(value);
      if (byte > infinity) byte = infinity;
    }
    bits = static_cast<std::uint8_t>(sign | byte);
  }
  explicit operator float() const {
    const float16 half = std::bit_cast<float16>(static_cast<std::uint16_t>(bits << 8));
    return static_cast<float>(half);
  }
};

}  // namespace rung
