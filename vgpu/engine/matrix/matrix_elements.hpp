#pragma once
// The value of a matrix element, from the register that contains it. `element` counts from the low
// bits. All values are exact in f32. Compilers vectorize these functions.

#include <bit>
#include <cstdint>

#include "vgpu/engine/numbers/float16.hpp"
#include "vgpu/model/matrix_form.hpp"

namespace rung::vgpu {

inline float f32_of_f16(std::uint32_t bits) {
  return F16::number({static_cast<std::uint16_t>(bits)});
}

/// e4m3: four exponent bits with bias 7, no infinity, and one magnitude for NaN.
inline float f32_of_e4m3(std::uint32_t bits) {
  const std::uint32_t magnitude = bits & 0x7Fu;
  // Interpreted as binary32, the shifted bits are the value times 2^-120. The product is exact.
  const float value = std::bit_cast<float>(magnitude << 20) * 0x1p120f;
  const std::uint32_t value_bits =
      magnitude == 0x7Fu ? 0x7FFFFFFFu : std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>(value_bits | (bits & 0x80u) << 24);
}

/// An e5m2 is the upper byte of an f16.
inline float f32_of_e5m2(std::uint32_t bits) { return f32_of_f16((bits & 0xFFu) << 8); }

template <MatrixElement type>
inline float matrix_element(std::uint32_t word, int element) {
  using enum MatrixElement;
  const std::uint32_t bits = word >> (element * element_bits(type));
  if constexpr (type == f16) return f32_of_f16(bits & 0xFFFFu);
  if constexpr (type == bf16) return std::bit_cast<float>(bits << 16);
  if constexpr (type == tf32) return std::bit_cast<float>(bits & 0xFFFFE000u);
  if constexpr (type == e4m3) return f32_of_e4m3(bits);
  if constexpr (type == e5m2) return f32_of_e5m2(bits);
  if constexpr (type == s8) return static_cast<float>(static_cast<std::int32_t>(bits << 24) >> 24);
  if constexpr (type == u8) return static_cast<float>(static_cast<std::int32_t>(bits & 0xFFu));
  if constexpr (type == s4) return static_cast<float>(static_cast<std::int32_t>(bits << 28) >> 28);
  if constexpr (type == u4) return static_cast<float>(static_cast<std::int32_t>(bits & 0xFu));
}

}  // namespace rung::vgpu
