#pragma once
// A and B are alike: a tile of either is some rows of A or columns of B, its extent, by some steps
// along k. Transposed, B is like A, and one loader serves both.

#include <metal_stdlib>

#include "device/metal/matrix.h"
#include "device/metal/problem.h"

namespace rung {

/// An operand as a matrix of extent x k.
template <class In>
struct Operand {
  Matrix<const In> x;
  int64_t extent, k;
  bool is_along_k;  // elements along k lie together; else those along the extent do
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
