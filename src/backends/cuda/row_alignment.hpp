#pragma once
// How the rows of an operand are aligned in memory.

#include <cstddef>
#include <cstdint>

#include "backends/cuda/wave_model.hpp"
#include "core/call.hpp"

namespace rung::cuda {

/// The bits that are set in the address or the leading dimension of a matrix, in bytes.
template <class Pointer>
std::uintptr_t row_bits(const AnyMatrix<Pointer>& matrix, std::size_t element_bytes) {
  // One of the two strides is 1: their product is the leading dimension.
  return reinterpret_cast<std::uintptr_t>(matrix.data) |
         static_cast<std::uintptr_t>(matrix.row_stride * matrix.col_stride) * element_bytes;
}

/// The largest power of two, at most 128, that divides what has these bits.
inline std::int64_t largest_divisor(std::uintptr_t bits) {
  bits |= 128u;
  return static_cast<std::int64_t>(bits & (~bits + 1));
}

inline std::int64_t row_alignment(const AnyMatrix<const void*>& operand, Dtype dtype) {
  return largest_divisor(row_bits(operand, input_bytes(dtype)));
}

/// Copies of operands have rows of whole lines: only what TMA reads in place can have odd ones.
inline OddRows odd_rows_of(const GemmCall& call) {
  const auto is_odd = [&](const AnyMatrix<const void*>& operand, bool is_k_major) {
    return row_alignment(operand, call.dtype) == 16 && (is_k_major || !is_k_major_only(call.dtype));
  };
  return {is_odd(call.a, call.a.col_stride == 1), is_odd(call.b, call.b.row_stride == 1)};
}

}  // namespace rung::cuda
