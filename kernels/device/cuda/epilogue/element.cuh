#pragma once
// Epilogue operations on single elements, with operands of any type and strides.

#include <cstdint>

#include "core/epilogue.hpp"
#include "device/activation.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/approx.cuh"
#include "device/cuda/types.cuh"

#ifndef RUNG_HOST

namespace rung::cuda {

struct GpuMath {
  static __device__ __forceinline__ float exp2(float x) { return ptx::ex2_approx_ftz_f32(x); }
  static __device__ __forceinline__ float reciprocal(float x) { return ptx::rcp_approx_ftz_f32(x); }
};

/// Applies an activation. In double, only relu is supported.
__device__ __forceinline__ float activated(Activation activation, float x) {
  return Activations<GpuMath>::of(activation, x);
}
__device__ __forceinline__ double activated(Activation activation, double x) {
  return activation == Activation::relu && x < 0.0 ? 0.0 : x;
}

__device__ __forceinline__ float float_of_e4m3(std::uint32_t bits) {
  const std::uint32_t sign = (bits & 0x80u) << 24;
  const std::uint32_t magnitude = bits & 0x7Fu;
  const float value = __builtin_bit_cast(float, magnitude << 20) * 0x1p120f;
  return __builtin_bit_cast(
      float, sign | (magnitude == 0x7Fu ? 0x7FC00000u : __builtin_bit_cast(std::uint32_t, value)));
}

/// Converts a float to an 8-bit format: rounds to nearest, ties to even, and saturates to
/// `largest`. For GPUs without a conversion instruction.
template <int SIGNIFICAND_BITS, int BIAS>
__device__ __forceinline__ std::uint8_t float8_of(float value, std::uint32_t largest) {
  constexpr int DROPPED = 23 - SIGNIFICAND_BITS;
  const auto word = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t magnitude = word & 0x7FFFFFFFu;
  std::uint32_t bits = 0x7F;
  if (magnitude <= 0x7F800000u) {
    if (magnitude >= static_cast<std::uint32_t>(128 - BIAS) << 23) {
      const std::uint32_t rebiased = magnitude - (static_cast<std::uint32_t>(127 - BIAS) << 23);
      bits = (rebiased + (1u << (DROPPED - 1)) - 1 + (rebiased >> DROPPED & 1)) >> DROPPED;
    } else {  // subnormal or zero: the addition aligns and rounds the significand
      constexpr std::uint32_t ALIGNER = static_cast<std::uint32_t>(128 - BIAS + DROPPED) << 23;
      const float aligned =
          __builtin_bit_cast(float, magnitude) + __builtin_bit_cast(float, ALIGNER);
      bits = __builtin_bit_cast(std::uint32_t, aligned) - ALIGNER;
    }
    bits = bits < largest ? bits : largest;
  }
  return static_cast<std::uint8_t>(bits | (word >> 24 & 0x80u));
}

/// Rounds to the nearest integer, ties to even, and saturates. NaN becomes 0.
__device__ __forceinline__ std::int32_t int_of(float value, std::int32_t least,
                                               std::int32_t largest) {
  if (value != value) return 0;
  if (value >= static_cast<float>(largest)) return largest;
  if (value <= static_cast<float>(least)) return least;
  // Floats >= 2^23 are integers; for smaller ones, adding 2^23 rounds to an integer.
  const float magnitude = value < 0.0f ? -value : value;
  const float whole = magnitude < 0x1p23f ? magnitude + 0x1p23f - 0x1p23f : magnitude;
  return static_cast<std::int32_t>(value < 0.0f ? -whole : whole);
}

template <class T>
__device__ __forceinline__ T& element(const EpilogueOperand& operand, std::int64_t row,
                                      std::int64_t col) {
  return static_cast<T*>(operand.data)[operand.at(row, col)];
}

/// Loads element (row, col) of an operand, which must exist.
template <class E>
__device__ __forceinline__ E load(const EpilogueOperand& operand, std::int64_t row,
                                  std::int64_t col) {
  if constexpr (sizeof(E) == 8) {
    return element<double>(operand, row, col);
  } else {
    switch (operand.type) {
      case ElementType::bf16: return static_cast<float>(element<bfloat16>(operand, row, col));
      case ElementType::f16: return static_cast<float>(element<float16>(operand, row, col));
      case ElementType::i32: return static_cast<float>(element<std::int32_t>(operand, row, col));
      case ElementType::i8: return static_cast<float>(element<std::int8_t>(operand, row, col));
      case ElementType::e4m3: return float_of_e4m3(element<std::uint8_t>(operand, row, col));
      case ElementType::e5m2: {
        const auto bits = std::uint32_t{element<std::uint8_t>(operand, row, col)} << 8;
        return ptx::cvt_f32_f16(static_cast<std::uint16_t>(bits));
      }
      default: return element<float>(operand, row, col);
    }
  }
}

template <class E>
__device__ __forceinline__ void store(const EpilogueOperand& operand, std::int64_t row,
                                      std::int64_t col, E value) {
  if constexpr (sizeof(E) == 8) {
    element<double>(operand, row, col) = value;
  } else {
    switch (operand.type) {
      case ElementType::bf16: element<bfloat16>(operand, row, col) = bfloat16(value); return;
      case ElementType::f16: element<float16>(operand, row, col) = float16(value); return;
      case ElementType::i32:
        element<std::int32_t>(operand, row, col) = int_of(value, -2147483647 - 1, 2147483647);
        return;
      case ElementType::i8:
        element<std::int8_t>(operand, row, col) =
            static_cast<std::int8_t>(int_of(value, -128, 127));
        return;
      case ElementType::e4m3:
        element<std::uint8_t>(operand, row, col) = float8_of<3, 7>(value, 0x7E);
        return;
      case ElementType::e5m2:
        element<std::uint8_t>(operand, row, col) = float8_of<2, 15>(value, 0x7B);
        return;
      default: element<float>(operand, row, col) = value;
    }
  }
}

/// A scale in memory; 1 if the pointer is null.
template <class E>
__device__ __forceinline__ E scale_of(const float* scale) {
  return scale == nullptr ? E{1} : static_cast<E>(*scale);
}

/// The magnitude of a result as an integer with the same order; NaN is the largest.
__device__ __forceinline__ std::uint32_t magnitude_of(float value) {
  return __builtin_bit_cast(std::uint32_t, value) & 0x7FFFFFFFu;
}

}  // namespace rung::cuda

#endif
