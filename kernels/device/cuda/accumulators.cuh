#pragma once
// Sums as mma.sync and wgmma leave them in the lanes of a warp, on their way to C: of each 8 x 8,
// lane l has columns 2 (l % 4) and the next of row l / 4.

#include <cstdint>

#include "device/cuda/store.cuh"

namespace rung::cuda {

/// The row and the first column of this lane's elements within 8 x 8.
__device__ __forceinline__ int accumulator_row() { return static_cast<int>(threadIdx.x) % 32 / 4; }
__device__ __forceinline__ int accumulator_col() { return static_cast<int>(threadIdx.x) % 4 * 2; }

/// Two neighbours along a row of C, those that exist: one access where C is aligned for it.
template <class In, class Out>
__device__ __forceinline__ void store_pair(const Gemm<In, Out>& g, std::int64_t row,
                                           std::int64_t col, Scalar<Out> first,
                                           Scalar<Out> second) {
  using Sum = Scalar<Out>;
  if (row >= g.m || col >= g.n) return;
  const bool aligned = g.c.row_stride % 2 == 0 &&
                       reinterpret_cast<std::uintptr_t>(g.c.data) % (2 * sizeof(Out)) == 0;
  if (!aligned || col + 1 == g.n) {
    store(g, row, col, first);
    if (col + 1 < g.n) store(g, row, col + 1, second);
    return;
  }
  auto& c = *reinterpret_cast<Vector<Out, 2>*>(&g.c(row, col));
  Vector<Out, 2> old = {};
  if (g.beta != Sum{}) old = c;
  c = {static_cast<Out>(g.alpha * first + g.beta * static_cast<Sum>(old.at[0])),
       static_cast<Out>(g.alpha * second + g.beta * static_cast<Sum>(old.at[1]))};
}

/// The 16 x 8 results of one mma.m16n8, whose first is element (row, col) of C.
template <class In, class Out>
__device__ __forceinline__ void store_m16n8(const Gemm<In, Out>& g, std::int64_t row,
                                            std::int64_t col, const Scalar<Out> (&d)[4]) {
  row += accumulator_row();
  col += accumulator_col();
  store_pair(g, row, col, d[0], d[1]);
  store_pair(g, row + 8, col, d[2], d[3]);
}

/// The 64 x 8 J results of one wgmma, whose first is element (row, col) of C.
template <class In, class Out, int J>
__device__ __forceinline__ void store_m64(const Gemm<In, Out>& g, std::int64_t row,
                                          std::int64_t col, const Scalar<Out> (&d)[J][4]) {
  const int warp = static_cast<int>(threadIdx.x) % 128 / 32;
  RUNG_UNROLL
  for (int j = 0; j < J; ++j) store_m16n8(g, row + warp * 16, col + j * 8, d[j]);
}

}  // namespace rung::cuda
