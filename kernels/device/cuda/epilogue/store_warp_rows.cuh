#pragma once
// Stores a tile of sums that a block has staged in shared memory to a C of any alignment. Each warp
// stores whole rows, so that few L2 lines are written partially and addresses differ by constants.

#include <cstdint>

#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/keywords.cuh"
#include "device/cuda/tile/tile_coord.cuh"

namespace rung::cuda {

/// Stores ROWS x COLS sums, except those outside C, from `tile`, with all WARPS warps of the block.
/// Rows of sums are PITCH apart.
template <int ROWS, int COLS, int PITCH, int WARPS, class In, class Out>
__device__ __forceinline__ void store_warp_rows(const Gemm<In, Out>& g, const TileCoord& tile,
                                                const Scalar<Out>* sums) {
  constexpr int PIECES = COLS / 32;    // pieces per row, one element per lane
  constexpr int AT_ONCE = 8 / PIECES;  // rows in flight
  static_assert(ROWS % (WARPS * AT_ONCE) == 0, "warps read staged rows beyond the edge of C");
  const Epilogue<Out> epilogue(g);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int rows = g.m - tile.row < ROWS ? static_cast<int>(g.m - tile.row) : ROWS;
  const int cols = (g.n - tile.col < COLS ? static_cast<int>(g.n - tile.col) : COLS) - lane;
  const std::int64_t apart = WARPS * g.c.row_stride;
  Out* to = &g.c(tile.row + warp, tile.col + lane);
  sums += warp * PITCH + lane;
  RUNG_NO_UNROLL
  for (int row = warp; row < rows; row += WARPS * AT_ONCE) {
    Scalar<Out> values[AT_ONCE][PIECES];
    Out old[AT_ONCE][PIECES] = {};
    RUNG_UNROLL
    for (int i = 0; i < AT_ONCE; ++i) {
      RUNG_UNROLL
      for (int j = 0; j < PIECES; ++j) values[i][j] = sums[i * WARPS * PITCH + j * 32];
    }
    if (epilogue.reads_c()) {
      const Out* from = to;
      RUNG_UNROLL
      for (int i = 0; i < AT_ONCE; ++i) {
        RUNG_UNROLL
        for (int j = 0; j < PIECES; ++j) {
          if (row + i * WARPS < rows && j * 32 < cols) old[i][j] = from[j * 32];
        }
        from += apart;
      }
    }
    RUNG_UNROLL
    for (int i = 0; i < AT_ONCE; ++i) {
      if (row + i * WARPS < rows) {
        RUNG_UNROLL
        for (int j = 0; j < PIECES; ++j) {
          if (j * 32 < cols) to[j * 32] = epilogue.combine(values[i][j], old[i][j]);
        }
      }
      to += apart;
    }
    sums += AT_ONCE * WARPS * PITCH;
  }
}

}  // namespace rung::cuda
