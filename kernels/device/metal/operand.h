#pragma once
// A uniform view of A and B: a tile has `extent` rows of A (or columns of B) by a k-block. B is
// viewed as its transpose, so one loader supports both.

#include <metal_stdlib>

#include "device/metal/matrix.h"
#include "device/metal/problem.h"

namespace rung {

/// An operand as an extent x k matrix.
template <class In>
struct Operand {
  Matrix<const In> x;
  int64_t extent, k;
  bool is_along_k;  // K-major: contiguous along k; otherwise contiguous along the extent
  bool is_aligned;  // GemmScalars::a_is_aligned
};

template <class In, class Out>
Operand<In> operand_a(constant GemmScalars<Out>& g, const device In* a) {
  return {{a, g.a_row_stride, g.a_col_stride}, g.m, g.k, g.a_col_stride == 1, g.a_is_aligned != 0};
}

template <class In, class Out>
Operand<In> operand_b(constant GemmScalars<Out>& g, const device In* b) {
  return {{b, g.b_col_stride, g.b_row_stride}, g.n, g.k, g.b_row_stride == 1, g.b_is_aligned != 0};
}

}  // namespace rung
