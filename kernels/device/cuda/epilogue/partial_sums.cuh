#pragma once
// Partial sums of split-K as wgmma leaves them in registers: 64 rows of 8 J columns of a warpgroup,
// in vectors of what a thread has of 16 rows and 8 columns: two columns of two rows, 8 apart.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/keywords.cuh"
#include "device/cuda/tile/tile_coord.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// The vectors that have elements of C. Others are neither written nor added.
template <int J, class Sum>
struct PartialSums {
  using Quad = Vector<Sum, 4>;
  static constexpr int COUNT = J * 128;  // vectors of a warpgroup

  std::int64_t row, col;  // of C, where the first element is
  int warps, columns;     // of 16 rows, of 8 columns

  template <class In, class Out>
  __device__ __forceinline__ PartialSums(const Gemm<In, Out>& g, std::int64_t first_row,
                                         std::int64_t first_col)
      : row(first_row),
        col(first_col),
        warps(chunks_of<16>(g.m - first_row, 4)),
        columns(chunks_of<8>(g.n - first_col, J)) {}

  __device__ __forceinline__ int count() const { return warps * columns * 32; }

  /// Writes this thread's sums to its vectors of `to`.
  __device__ __forceinline__ void put(Quad* to, const Sum (&acc)[J][4]) const {
    const int thread = static_cast<int>(threadIdx.x) % 128;
    const int warp = thread / 32;
    if (warp >= warps) return;
    to += warp * columns * 32 + thread % 32;
    RUNG_UNROLL
    for (int j = 0; j < J; ++j) {
      if (j < columns) to[j * 32] = {acc[j][0], acc[j][1], acc[j][2], acc[j][3]};
    }
  }

  /// Stores the results of vector i.
  template <class In, class Out>
  __device__ __forceinline__ void store(const Gemm<In, Out>& g, int i, const Quad& sums) const {
    const int warp = i / 32 / columns;
    const std::int64_t c_row = row + warp * 16 + i % 32 / 4;
    const std::int64_t c_col = col + (i / 32 - warp * columns) * 8 + i % 4 * 2;
    store_pair(g, c_row, c_col, sums.at[0], sums.at[1]);
    store_pair(g, c_row + 8, c_col, sums.at[2], sums.at[3]);
  }

  static __device__ __forceinline__ Quad sum(const Quad& a, const Quad& b) {
    return {a.at[0] + b.at[0], a.at[1] + b.at[1], a.at[2] + b.at[2], a.at[3] + b.at[3]};
  }

 private:
  /// How many chunks of SIZE cover an extent; at most `most`.
  template <int SIZE>
  static __device__ __forceinline__ int chunks_of(std::int64_t extent, int most) {
    return extent >= most * SIZE ? most
           : extent <= 0         ? 0
                                 : static_cast<int>(ceil_div(extent, SIZE));
  }
};

}  // namespace rung::cuda
