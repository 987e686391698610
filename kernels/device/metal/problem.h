#pragma once
// What a kernel is told of a problem besides its buffers: the same bytes on the host and on the
// device.

#ifndef __METAL_VERSION__
#include <cstdint>
#endif

namespace rung {

/// The scalars of src/core/problem.hpp's Gemm; its matrices are buffers. Strides count elements.
template <class Out>
struct GemmScalars {
  int64_t m, n, k;
  int64_t a_row_stride, a_col_stride;
  int64_t b_row_stride, b_col_stride;
  int64_t c_row_stride;
  Out alpha, beta;
  /// Whether every four neighbours that begin at a multiple of four are aligned as a vector.
  uint32_t a_is_aligned, b_is_aligned, c_is_aligned;
};

/// Those of src/core/problem.hpp's Dot; its vectors are buffers, from the element of i = 0 on.
struct DotScalars {
  int64_t n, incx, incy;
  /// Whether either vector's elements lie together and are aligned as vectors of four.
  uint32_t are_vectors;
};

}  // namespace rung
