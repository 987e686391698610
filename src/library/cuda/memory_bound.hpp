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

}  // namespace rung
