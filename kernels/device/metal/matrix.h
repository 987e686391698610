#pragma once
// The operands of gemm as matrices in device memory.

#include <metal_stdlib>

#include "device/metal/problem.h"
#include "device/metal/unroll.h"

using namespace metal;

namespace rung {

template <class T>
struct Matrix {
  device T* data;
  int64_t row_stride, col_stride;

  device T& operator()(int64_t row, int64_t col) const {
    return data[row * row_stride + col * col_stride];
  }
};

template <class In, class Out>
Matrix<const In> matrix_a(constant GemmScalars<Out>& g, const device In* a) {
  return {a, g.a_row_stride, g.a_col_stride};
}

template <class In, class Out>
Matrix<const In> matrix_b(constant GemmScalars<Out>& g, const device In* b) {
  return {b, g.b_row_stride, g.b_col_stride};
}

/// Stores one element of C, which must be in bounds; C is not read if beta is 0.
template <class Out>
void store(constant GemmScalars<Out>& g, device Out* c, int64_t row, int64_t col, Out sum) {
  device Out& result = c[row * g.c_row_stride + col];
  result = g.beta == 0 ? g.alpha * sum : g.alpha * sum + g.beta * result;
}

/// Stores up to four adjacent elements of a row of C, except those out of bounds, with one access
/// if C is aligned. `col` is a multiple of four.
template <class Out>
void store_vector(constant GemmScalars<Out>& g, device Out* c, int64_t row, int64_t col,
                  vec<Out, 4> sums) {
  if (row >= g.m) return;
  if (g.c_is_aligned == 0 || col + 4 > g.n) {
    for (int v = 0; v < 4 && col + v < g.n; ++v) store(g, c, row, col + v, sums[v]);
    return;
  }
  device vec<Out, 4>& results =
      *reinterpret_cast<device vec<Out, 4>*>(c + row * g.c_row_stride + col);
  results = g.beta == 0 ? g.alpha * sums : g.alpha * sums + g.beta * results;
}

}  // namespace rung
