#pragma once
// Conditions of selection rules for products that take as long as writing C.

#include <algorithm>
#include <cstdint>

#include "core/dtype.hpp"
#include "library/cuda/select.hpp"

namespace rung {

/// Whether a row of A, B or C does not begin at a multiple of 16 bytes: rungs that read or write
/// vectors are slower then, or need copies.
inline bool has_unaligned_rows(const CudaGemmShape& shape) { return shape.alignment < 16; }

/// Whether writing C takes longer than starting a launch.
inline bool has_large_c(const CudaGemmShape& shape) {
  constexpr double bytes = 16e6;
  return static_cast<double>(shape.m) * static_cast<double>(shape.n) *
             static_cast<double>(output_bytes(shape.dtype)) >=
         bytes;
}

/// Whether gemm/cuda/50 takes five to eight rows or columns, four at a time: blocks of both groups run
/// at the same time, so that the second group reads the long operand from L2. For rows, that operand
/// is read in vectors.
inline bool two_groups_of_rows_pay(const CudaGemmShape& shape) {
  constexpr std::int64_t most_at_once = 8192;
  if (std::max(shape.m, shape.n) > most_at_once) return false;
  return shape.n <= shape.m || !has_unaligned_rows(shape);
}

/// Whether gemm/cuda/54 is the fastest for up to 16 rows or columns: of a long operand that TMA cannot
/// read, or for up to eight, unless it is small. Limits are those of 86 shapes in several types and
/// layouts on an H200 (docs/notes/random-shapes.md).
inline bool fragments_from_memory_pay(const CudaGemmShape& shape) {
  const bool has_few_rows = shape.m <= shape.n;
  const std::int64_t few = std::min(shape.m, shape.n), many = std::max(shape.m, shape.n);
  const bool few_is_k_major =
      has_few_rows ? shape.a == Order::row_major : shape.b == Order::col_major;
  const bool long_is_k_major =
      has_few_rows ? shape.b == Order::col_major : shape.a == Order::row_major;
  const auto element = static_cast<std::int64_t>(input_bytes(shape.dtype));
  const double bytes = static_cast<double>(many) * static_cast<double>(shape.k * element);
  // It makes pairs of steps from rows of 16 bits alone. Of other types it loads single elements then.
  if (element != 2 && !long_is_k_major) return false;

  if (shape.alignment_of_ab < 16) {
    const bool has_words = shape.alignment_of_ab >= 4 && element < 4;
    if (element == 1) return few > 1 && has_words && bytes >= 1e6;
    return (few > 4 || has_words) && bytes >= 4e6;
  }
  const double least = element == 4 ? 150e6 : few_is_k_major ? 10e6 : 30e6;
  const bool has_vectors = (long_is_k_major ? shape.k : many) * element % 16 == 0;
  return few <= 8 && bytes >= least && has_vectors;
}

/// Whether gemm/cuda/51 is faster than packing operands that TMA cannot read, for a k of up to 128.
/// If rows of C are unaligned, too, threads store C in any case; else it is faster for small
/// products alone. The length of rows stands for their alignment, as if they were not padded.
/// Limits are those of 50 shapes in three layouts on an H200 (docs/notes/random-shapes.md).
inline bool loading_elements_pays(const CudaGemmShape& shape) {
  const auto row_of_c = shape.n * static_cast<std::int64_t>(output_bytes(shape.dtype));
  if (row_of_c % 16 != 0) return true;
  const double most = input_bytes(shape.dtype) == 1 ? 6e8 : 2e8;
  return static_cast<double>(shape.m) * static_cast<double>(shape.n) *
             static_cast<double>(shape.k) <=
         most;
}

/// Whether gemm/cuda/51 is faster for 17 to 64 rows or columns, whatever k is: reading the long
/// operand once takes less time than packing it. Elements of one byte, loaded one by one, take too
/// many loads.
inline bool loading_long_operand_pays(const CudaGemmShape& shape) {
  if (std::min(shape.m, shape.n) <= 16) return false;
  const bool is_k_major = shape.a == Order::row_major && shape.b == Order::col_major;
  return input_bytes(shape.dtype) > 1 || (is_k_major && shape.alignment_of_ab >= 4);
}

}  // namespace rung
