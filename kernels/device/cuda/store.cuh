#pragma once
// Results on their way to C.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/vector.cuh"

namespace rung::cuda {

/// One element of C, which must exist; not read if beta is 0.
template <class In, class Out>
__device__ __forceinline__ void store(const Gemm<In, Out>& g, std::int64_t row, std::int64_t col,
                                      Scalar<Out> sum) {
  using Sum = Scalar<Out>;
  Out& c = g.c(row, col);
  c = static_cast<Out>(g.beta == Sum{} ? g.alpha * sum
                                       : g.alpha * sum + g.beta * static_cast<Sum>(c));
}

/// Neighbours along a row of C, those that exist: one 16-byte access where C is aligned for it.
/// `col` is a multiple of their number.
template <class In, class Out>
__device__ __forceinline__ void store_vector(const Gemm<In, Out>& g, std::int64_t row,
                                             std::int64_t col, const Out* sums) {
  constexpr int W = vector_width<Out>;
  if (row >= g.m) return;
  // By a pointer, once: nothing in a kernel is compiled as often as this.
  Out* const to = g.c.data + row * g.c.row_stride + col;
  const bool aligned =
      g.c.row_stride % W == 0 && reinterpret_cast<std::uintptr_t>(g.c.data) % 16 == 0;
  const std::int64_t count = g.n - col;
  Vector<Out, W> result = {};
  if (aligned && count >= W) {
    auto& c = *reinterpret_cast<Vector<Out, W>*>(to);
    if (g.beta != Out{}) result = c;
    RUNG_UNROLL
    for (int w = 0; w < W; ++w) result.at[w] = g.alpha * sums[w] + g.beta * result.at[w];
    c = result;
  } else {
    RUNG_UNROLL
    for (int w = 0; w < W; ++w) {
      if (w < count) {
        if (g.beta != Out{}) result.at[w] = to[w];
        to[w] = g.alpha * sums[w] + g.beta * result.at[w];
      }
    }
  }
}

/// A thread's results, whose rows and columns are Fragments that begin at (row, col).
template <class Rows, class Cols, class In, class Out, int TM, int TN>
__device__ __forceinline__ void store_tile(const Gemm<In, Out>& g, std::int64_t row,
                                           std::int64_t col, const Out (&acc)[TM][TN]) {
  RUNG_UNROLL
  for (int i = 0; i < TM; ++i) {
    RUNG_UNROLL
    for (int j = 0; j < TN; j += vector_width<Out>) {
      store_vector(g, row + Rows::offset(i), col + Cols::offset(j), &acc[i][j]);
    }
  }
}

}  // namespace rung::cuda
