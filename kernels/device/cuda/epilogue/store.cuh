#pragma once
// Stores sums in registers as results in C. All kernels store through this file.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// Converts a sum to a result: alpha * sum + beta * c, rounded to the type of C. alpha and beta are
/// run-time data, so one kernel supports all values.
template <class Out>
struct Epilogue {
  using Sum = Scalar<Out>;
  const Sum& alpha;  // in the kernel's parameter, so they occupy no registers
  const Sum& beta;

  template <class In>
  __device__ __forceinline__ explicit Epilogue(const Gemm<In, Out>& g)
      : alpha(g.alpha), beta(g.beta) {}

  /// True if results depend on C. Otherwise C is not read and may contain anything, including NaN.
  __device__ __forceinline__ bool reads_c() const { return beta != Sum{}; }

  /// The result that replaces c. Reads c only if reads_c().
  __device__ __forceinline__ Out replace(const Sum& sum, const Out& c) const {
    return static_cast<Out>(beta == Sum{} ? alpha * sum : alpha * sum + beta * static_cast<Sum>(c));
  }
  /// The result for a c that has been read, or is zero if not reads_c(). Branch-free.
  __device__ __forceinline__ Out combine(const Sum& sum, const Out& c) const {
    return static_cast<Out>(alpha * sum + beta * static_cast<Sum>(c));
  }
};

/// Stores one element of C, which must exist.
template <class In, class Out>
__device__ __forceinline__ void store(const Gemm<In, Out>& g, std::int64_t row, std::int64_t col,
                                      Scalar<Out> sum) {
  const Epilogue<Out> epilogue(g);
  Out& c = g.c(row, col);
  c = epilogue.replace(sum, c);
}

/// True if all rows of C begin at multiples of 16 bytes.
template <class In, class Out>
__device__ __forceinline__ bool has_aligned_rows(const Gemm<In, Out>& g) {
  return g.c.row_stride % vector_width<Out> == 0 &&
         reinterpret_cast<std::uintptr_t>(g.c.data) % 16 == 0;
}

/// Stores vector_width<Out> adjacent elements of a row of C, except those outside C: as a vector if
/// C is aligned. `col` is a multiple of the vector width.
template <class In, class Out>
__device__ __forceinline__ void store_vector(const Gemm<In, Out>& g, std::int64_t row,
                                             std::int64_t col, const Out* sums) {
  constexpr int W = vector_width<Out>;
  const Epilogue<Out> epilogue(g);
  if (row >= g.m) return;
  // A single pointer, because this function is inlined more often than anything else in a kernel.
  Out* const to = g.c.data + row * g.c.row_stride + col;
  const std::int64_t count = g.n - col;
  Vector<Out, W> result = {};
  if (has_aligned_rows(g) && count >= W) {
    auto& c = *reinterpret_cast<Vector<Out, W>*>(to);
    if (epilogue.reads_c()) result = c;
    RUNG_UNROLL
    for (int w = 0; w < W; ++w) result.at[w] = epilogue.combine(sums[w], result.at[w]);
    c = result;
  } else {
    RUNG_UNROLL
    for (int w = 0; w < W; ++w) {
      if (w < count) {
        if (epilogue.reads_c()) result.at[w] = to[w];
        to[w] = epilogue.combine(sums[w], result.at[w]);
      }
    }
  }
}

/// Stores a thread's results, whose rows and columns are Fragments that start at (row, col).
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

/// store_tile() for a whole warp if rows of C are not aligned. Lanes are at (lane_row, lane_col) of
/// LANES_M x LANES_N, and the warp's tile begins at (row, col). The results go through shared
/// memory, one row per thread at a time, so that adjacent lanes store adjacent elements of C:
/// stores of single elements by one thread would each touch another sector. `staging` has LANES_M *
/// WN elements for this warp.
template <class Rows, class Cols, int LANES_M, int WN, class In, class Out, int TM, int TN>
__device__ __forceinline__ void store_by_rows(const Gemm<In, Out>& g, std::int64_t row,
                                              std::int64_t col, int lane_row, int lane_col,
                                              const Out (&acc)[TM][TN], Out* staging) {
  RUNG_UNROLL
  for (int i = 0; i < TM; ++i) {
    // sync: all lanes have read the previous rows
    if (i > 0) ptx::bar_warp_sync();
    RUNG_UNROLL
    for (int j = 0; j < TN; ++j) {
      staging[lane_row * WN + Cols::first(lane_col) + Cols::offset(j)] = acc[i][j];
    }
    // sync: the rows are complete
    ptx::bar_warp_sync();
    RUNG_NO_UNROLL
    for (int k = static_cast<int>(threadIdx.x) % 32; k < LANES_M * WN; k += 32) {
      const std::int64_t c_row = row + Rows::first(k / WN) + Rows::offset(i);
      const std::int64_t c_col = col + k % WN;
      if (c_row < g.m && c_col < g.n) store(g, c_row, c_col, staging[k]);
    }
  }
}

/// The accumulator layout of mma.sync and wgmma: in each 8 x 8 block, lane l holds row l / 4,
/// columns 2 (l % 4) and 2 (l % 4) + 1.
__device__ __forceinline__ int accumulator_row() { return static_cast<int>(threadIdx.x) % 32 / 4; }
__device__ __forceinline__ int accumulator_col() { return static_cast<int>(threadIdx.x) % 4 * 2; }

/// Stores two adjacent elements of a row of C, except those outside C: as a vector if C is aligned.
template <class In, class Out>
__device__ __forceinline__ void store_pair(const Gemm<In, Out>& g, std::int64_t row,
                                           std::int64_t col, Scalar<Out> first,
                                           Scalar<Out> second) {
  const Epilogue<Out> epilogue(g);
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
  if (epilogue.reads_c()) old = c;
  c = {epilogue.combine(first, old.at[0]), epilogue.combine(second, old.at[1])};
}

/// Stores the 16 x 8 results of one mma.m16n8 to C, from element (row, col).
template <class In, class Out>
__device__ __forceinline__ void store_m16n8(const Gemm<In, Out>& g, std::int64_t row,
                                            std::int64_t col, const Scalar<Out> (&d)[4]) {
  row += accumulator_row();
  col += accumulator_col();
  store_pair(g, row, col, d[0], d[1]);
  store_pair(g, row + 8, col, d[2], d[3]);
}

/// Stores the 64 x 8 J results of one wgmma to C, from element (row, col).
template <class In, class Out, int J>
__device__ __forceinline__ void store_m64(const Gemm<In, Out>& g, std::int64_t row,
                                          std::int64_t col, const Scalar<Out> (&d)[J][4]) {
  const int warp = static_cast<int>(threadIdx.x) % 128 / 32;
  RUNG_UNROLL
  for (int j = 0; j < J; ++j) store_m16n8(g, row + warp * 16, col + j * 8, d[j]);
}

}  // namespace rung::cuda
