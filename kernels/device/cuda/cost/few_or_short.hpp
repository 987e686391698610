#pragma once
// Predicates of kernels that are bound by memory: gemm/cuda/skinny and skinny_mma (few rows or columns), any_operands
// (operands that TMA cannot read), rank_k and short_k (a short k).

#include <algorithm>
#include <cstdint>

#include "core/dtype.hpp"
#include "device/cuda/cost/gemm_shape.hpp"

namespace rung {

/// True if a row of A, B or C does not begin at a multiple of 16 bytes: kernels that read or write vectors are
/// then slower, or need copies.
inline bool has_unaligned_rows(const CudaGemmShape& shape) { return shape.alignment < 16; }

/// True if writing C takes longer than starting a launch.
inline bool has_large_c(const CudaGemmShape& shape) {
  constexpr double bytes = 16e6;
  return static_cast<double>(shape.m) * static_cast<double>(shape.n) *
             static_cast<double>(output_bytes(shape.dtype)) >=
         bytes;
}

/// True if gemm/cuda/skinny pays off for five to eight rows or columns, four at a time: blocks of both groups run
/// at the same time, so the second group reads the long operand from L2. For rows, that operand must be read in
/// vectors.
inline bool two_groups_of_rows_pay(const CudaGemmShape& shape) {
  constexpr std::int64_t max_at_once = 8192;
  if (std::max(shape.m, shape.n) > max_at_once) return false;
  return shape.n <= shape.m || !has_unaligned_rows(shape);
}

/// True if gemm/cuda/skinny_mma is the fastest for up to 16 rows or columns: with a long operand that TMA cannot read,
/// or for up to eight rows or columns with an operand that is not small. The limits fit 86 shapes in several
/// types and layouts on an H200 (docs/notes/cuda-kernels.md).
inline bool fragments_from_memory_pay(const CudaGemmShape& shape) {
  const bool has_few_rows = shape.m <= shape.n;
  const std::int64_t few = std::min(shape.m, shape.n), many = std::max(shape.m, shape.n);
  const bool few_is_k_major =
      has_few_rows ? shape.a == Order::row_major : shape.b == Order::col_major;
  const bool long_is_k_major =
      has_few_rows ? shape.b == Order::col_major : shape.a == Order::row_major;
  const auto element = static_cast<std::int64_t>(input_bytes(shape.dtype));
  const double bytes = static_cast<double>(many) * static_cast<double>(shape.k * element);
  // It makes pairs of steps only from rows of 16 bits. For other types it would load single elements.
  if (element != 2 && !long_is_k_major) return false;

  if (shape.alignment_of_ab < 16) {
    const bool has_words = shape.alignment_of_ab >= 4 && element < 4;
    if (element == 1) return few > 1 && has_words && bytes >= 1e6;
    return (few > 4 || has_words) && bytes >= 4e6;
  }
  // On Hopper, TMA loads only the rows that exist: tiles were 1.05 to 2.06 times as fast in 48 products of 2 to 8 rows.
  if (shape.arch == 90 && element == 2 && has_few_rows && !has_unaligned_rows(shape)) return false;
  const double least = element == 4 ? 150e6 : few_is_k_major ? 10e6 : 30e6;
  const bool has_vectors = (long_is_k_major ? shape.k : many) * element % 16 == 0;
  return few <= 8 && bytes >= least && has_vectors;
}

/// True if gemm/cuda/any_operands is faster than packing operands that TMA cannot read, for a k of up to 128. With
/// unaligned rows of C, threads store C in any case; otherwise any_operands is faster only for small products. The
/// length of rows decides about their alignment, as if they were not padded. The limits fit 50 shapes in three layouts
/// on an H200 (docs/notes/cuda-kernels.md).
inline bool loading_elements_pays(const CudaGemmShape& shape) {
  const auto row_of_c = shape.n * static_cast<std::int64_t>(output_bytes(shape.dtype));
  if (row_of_c % 16 != 0) return true;
  const double most = input_bytes(shape.dtype) == 1 ? 6e8 : 2e8;
  return static_cast<double>(shape.m) * static_cast<double>(shape.n) *
             static_cast<double>(shape.k) <=
         most;
}

/// True if gemm/cuda/any_operands is faster for 17 to 64 rows or columns, whatever k is: reading the long operand once
/// takes less time than packing it. Elements of one byte, loaded one by one, take too many loads.
inline bool loading_long_operand_pays(const CudaGemmShape& shape) {
  if (std::min(shape.m, shape.n) <= 16) return false;
  const bool is_k_major = shape.a == Order::row_major && shape.b == Order::col_major;
  return input_bytes(shape.dtype) > 1 || (is_k_major && shape.alignment_of_ab >= 4);
}

}  // namespace rung
