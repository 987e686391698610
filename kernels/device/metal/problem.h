#pragma once
// The scalar arguments of a kernel, with the same layout on the host and on the device.

#ifndef __METAL_VERSION__
#include <cstdint>
#endif

namespace rung {

/// The scalars of Gemm in core/problem.hpp; its matrices are separate buffers. Strides are in
/// elements.
template <class Out>
struct GemmScalars {
  int64_t m, n, k;
  int64_t a_row_stride, a_col_stride;
  int64_t b_row_stride, b_col_stride;
  int64_t c_row_stride;
  Out alpha, beta;
  /// True if each group of four elements that starts at a multiple of four is aligned like a vector
  /// of four.
  uint32_t a_is_aligned, b_is_aligned, c_is_aligned;
};

/// The scalars of Dot in core/problem.hpp; its vectors are separate buffers that begin at
/// element i = 0.
struct DotScalars {
  int64_t n, incx, incy;
  /// True if both vectors are contiguous and aligned like vectors of four.
  uint32_t are_vectors;
};

}  // namespace rung
