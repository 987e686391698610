#pragma once
// Conditions of selection rules for products that take as long as writing C.

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

}  // namespace rung
