#pragma once
// Access to epilogue operands in kernels of fused.cuh: pairs of 16-bit elements, and elements of
// vectors.

#include <cstdint>

#include "core/epilogue.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/approx.cuh"
#include "device/cuda/ptx/basic.cuh"

#ifndef RUNG_HOST

namespace rung::cuda {

/// Two adjacent 16-bit elements of a row, which are stored in one word.
struct Two {
  float first, second;
};
__device__ __forceinline__ Two widened(bool is_f16, std::uint32_t word) {
  if (is_f16) {
    return {ptx::cvt_f32_f16(static_cast<std::uint16_t>(word)),
            ptx::cvt_f32_f16(static_cast<std::uint16_t>(word >> 16))};
  }
  return {ptx::mov_f32_b32(word << 16), ptx::mov_f32_b32(word & 0xFFFF0000u)};
}
__device__ __forceinline__ std::uint32_t narrowed(bool is_f16, float first, float second) {
  return is_f16 ? ptx::cvt_rn_f16x2_f32(second, first) : ptx::cvt_rn_bf16x2_f32(second, first);
}

/// The bits of an element of a float, bfloat16 or float16 vector. number_of() converts them to a
/// float.
__device__ __forceinline__ std::uint32_t vector_bits(const EpilogueOperand& vector,
                                                     std::int64_t at) {
  if (vector.type == ElementType::f32) return static_cast<const std::uint32_t*>(vector.data)[at];
  return static_cast<const std::uint16_t*>(vector.data)[at];
}
__device__ __forceinline__ float number_of(ElementType type, std::uint32_t bits) {
  if (type == ElementType::f32) return ptx::mov_f32_b32(bits);
  return widened(type == ElementType::f16, bits).first;
}
__device__ __forceinline__ float vector_element(const EpilogueOperand& vector, std::int64_t at) {
  return number_of(vector.type, vector_bits(vector, at));
}

/// The words of a 16-bit operand at element (row, col) and 8 rows below.
struct WordsOfTwoRows {
  std::uint32_t* at[2];
  bool is_f16;

  __device__ __forceinline__ WordsOfTwoRows(const EpilogueOperand& operand, std::int64_t row,
                                            std::int64_t col)
      : is_f16(operand.type == ElementType::f16) {
    auto* const elements = static_cast<std::uint16_t*>(operand.data);
    RUNG_UNROLL
    for (int half = 0; half < 2; ++half) {
      at[half] = reinterpret_cast<std::uint32_t*>(elements + operand.at(row + half * 8, col));
    }
  }
};

}  // namespace rung::cuda

#endif
