#pragma once
// Element types missing from C++, with their conversions. All are storage types: convert them to
// float for arithmetic.

#include <bit>
#include <cstdint>

#include "rung/export.hpp"
#include "rung/storage_types.hpp"

namespace rung {

namespace detail {

/// The number with bits `magnitude`, which is below 2^(exponent + 22), divided by 2^exponent and
/// rounded to nearest, ties to even. Uses integer arithmetic, because the caller of a conversion
/// may have changed the rounding mode or enabled flush-to-zero.
inline std::uint32_t rounded_multiple(std::uint32_t magnitude, int exponent) {
  const int shift = exponent + 150 - static_cast<int>(magnitude >> 23);
  if (shift > 24) return 0;  // less than 1/2
  const std::uint32_t significand = (magnitude & 0x7FFFFFu) | 0x800000u;
  return (significand + (1u << (shift - 1)) - 1 + ((significand >> shift) & 1u)) >> shift;
}

/// |value|, which must be finite, as the bits of an 8-bit format, rounded to nearest, ties to even.
/// Values that are too large give bits above those of the largest number.
template <int SIGNIFICAND_BITS, int BIAS>
std::uint32_t narrowed(float value) {
  constexpr int dropped = 23 - SIGNIFICAND_BITS;
  constexpr std::uint32_t least_normal = static_cast<std::uint32_t>(128 - BIAS) << 23;
  const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFu;
  if (magnitude >= least_normal) {
    const std::uint32_t rebiased = magnitude - (static_cast<std::uint32_t>(127 - BIAS) << 23);
    return (rebiased + (1u << (dropped - 1)) - 1 + ((rebiased >> dropped) & 1u)) >> dropped;
  }
  return rounded_multiple(magnitude, 1 - BIAS - SIGNIFICAND_BITS);
}

/// The value of a finite, non-negative number in an 8-bit format.
template <int SIGNIFICAND_BITS, int BIAS>
float widened(std::uint32_t bits) {
  constexpr std::uint32_t rebias = static_cast<std::uint32_t>(127 - BIAS) << 23;
  constexpr float smallest =
      std::bit_cast<float>(static_cast<std::uint32_t>(128 - BIAS - SIGNIFICAND_BITS) << 23);
  return bits < 1u << SIGNIFICAND_BITS
             ? static_cast<float>(bits) * smallest
             : std::bit_cast<float>((bits << (23 - SIGNIFICAND_BITS)) + rebias);
}

}  // namespace detail

inline bfloat16::bfloat16(float value) {
  const auto word = std::bit_cast<std::uint32_t>(value);
  if (value != value) {
    bits = static_cast<std::uint16_t>((word >> 16) | 0x40u);
  } else {
    bits = static_cast<std::uint16_t>((word + 0x7FFFu + ((word >> 16) & 1u)) >> 16);
  }
}

inline bfloat16::operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

inline float16::float16(float value) {
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
  } else {  // subnormal or zero
    half = detail::rounded_multiple(magnitude, -24);
  }
  bits = static_cast<std::uint16_t>(sign | half);
}

inline float16::operator float() const {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000u} << 16;
  const std::uint32_t magnitude = bits & 0x7FFFu;
  if (magnitude >= 0x7C00u) {
    return std::bit_cast<float>(sign | 0x7F800000u | (magnitude << 13));
  }
  const float value = magnitude < 0x400u ? static_cast<float>(bits & 0x7FFF) * 0x1p-24f
                                         : std::bit_cast<float>((magnitude << 13) + 0x38000000u);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
}

inline float8_e4m3::float8_e4m3(float value) {
  constexpr std::uint32_t largest = 0x7E;
  const std::uint32_t sign = std::bit_cast<std::uint32_t>(value) >> 24 & 0x80u;
  std::uint32_t byte = 0x7F;
  if (value == value) {
    byte = detail::narrowed<3, 7>(value);
    if (byte > largest) byte = largest;
  }
  bits = static_cast<std::uint8_t>(sign | byte);
}

inline float8_e4m3::operator float() const {
  const std::uint32_t sign = std::uint32_t{bits & 0x80u} << 24;
  const std::uint32_t magnitude = bits & 0x7Fu;
  const float value =
      magnitude == 0x7F ? std::bit_cast<float>(0x7FC00000u) : detail::widened<3, 7>(magnitude);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
}

inline float8_e5m2::float8_e5m2(float value) {
  constexpr std::uint32_t infinity = 0x7C;
  const std::uint32_t sign = std::bit_cast<std::uint32_t>(value) >> 24 & 0x80u;
  std::uint32_t byte = 0x7E;
  if (value == value) {
    byte = detail::narrowed<2, 15>(value);
    if (byte > infinity) byte = infinity;
  }
  bits = static_cast<std::uint8_t>(sign | byte);
}

inline float8_e5m2::operator float() const {
  const float16 half = std::bit_cast<float16>(static_cast<std::uint16_t>(bits << 8));
  return static_cast<float>(half);
}

}  // namespace rung
