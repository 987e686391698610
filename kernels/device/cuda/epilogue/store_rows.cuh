#pragma once
// Stores a tile of sums that a group of threads has staged in shared memory: adjacent threads store
// adjacent elements of C, 16 bytes each if rows of C are aligned.

#include <cstdint>

#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/keywords.cuh"
#include "device/cuda/tile/tile_coord.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

template <int W, int ROWS, int COLS, int PITCH, class Group, class In, class Out>
__device__ __forceinline__ void store_pieces(const Gemm<In, Out>& g, const TileCoord& tile,
                                             const Scalar<Out>* sums) {
  constexpr int IN_ROW = COLS / W;
  constexpr int STEP = Group::SIZE / IN_ROW;  // rows between a thread's pieces
  static_assert(STEP * IN_ROW == Group::SIZE, "a thread stays in its column");
  const Epilogue<Out> epilogue(g);
  const int row = Group::rank() / IN_ROW;
  const int col = Group::rank() % IN_ROW * W;
  const auto rows = static_cast<int>(g.m - tile.row < ROWS ? g.m - tile.row : ROWS);
  const auto cols = static_cast<int>(g.n - tile.col < COLS ? g.n - tile.col : COLS) - col;
  Out* to = g.c.data + (tile.row + row) * g.c.row_stride + tile.col + col;
  sums += row * PITCH + col;
  RUNG_UNROLL_4
  for (int i = 0; i < ROWS / STEP; ++i) {
    const bool exists = row + i * STEP < rows;
    if (exists && W <= cols) {
      Vector<Out, W> result = {};
      if (epilogue.reads_c()) result = *reinterpret_cast<const Vector<Out, W>*>(to);
      RUNG_UNROLL
      for (int w = 0; w < W; ++w) result.at[w] = epilogue.combine(sums[w], result.at[w]);
      *reinterpret_cast<Vector<Out, W>*>(to) = result;
    } else if (exists) {
      RUNG_UNROLL
      for (int w = 0; w < W - 1; ++w) {
        if (w < cols) to[w] = epilogue.replace(sums[w], to[w]);
      }
    }
    to += STEP * g.c.row_stride;
    sums += STEP * PITCH;
  }
}

/// Stores ROWS x COLS sums, whose rows are PITCH apart, to C from `tile`, except those outside C.
template <int ROWS, int COLS, int PITCH, class Group, class In, class Out>
__device__ __forceinline__ void store_rows(const Gemm<In, Out>& g, const TileCoord& tile,
                                           const Scalar<Out>* sums) {
  if (has_aligned_rows(g)) {
    store_pieces<vector_width<Out>, ROWS, COLS, PITCH, Group>(g, tile, sums);
  } else {
    store_pieces<1, ROWS, COLS, PITCH, Group>(g, tile, sums);
  }
}

}  // namespace rung::cuda
