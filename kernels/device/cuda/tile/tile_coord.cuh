#pragma once
// Assigns tiles of C to blocks.

#include <cstdint>

#include "core/integers.hpp"
#include "core/problem.hpp"
#include "device/cuda/keywords.cuh"

namespace rung::cuda {

using rung::ceil_div;

/// The number of BM x BN tiles that cover C, one per block.
///
/// Tiles are numbered along x, row by row, because a grid is limited to 65535 blocks along y and z
/// but 2^31 - 1 along x.
template <int BM, int BN, class In, class Out>
constexpr std::int64_t tiles_of_c(const Gemm<In, Out>& g) {
  return ceil_div(g.m, BM) * ceil_div(g.n, BN);
}

/// The first element of a tile of C.
struct TileCoord {
  std::int64_t row, col;
};

/// The tile of this block in a grid of tiles_of_c() blocks.
template <int BM, int BN, class In, class Out>
__device__ __forceinline__ TileCoord tile_of_block(const Gemm<In, Out>& g) {
  const auto tiles_in_row = static_cast<unsigned>(ceil_div(g.n, BN));
  return {std::int64_t{blockIdx.x / tiles_in_row} * BM,
          std::int64_t{blockIdx.x % tiles_in_row} * BN};
}

/// Maps tiles in a different order, a thread-block swizzle for L2 reuse: in groups of `rows` rows
/// of tiles, column by column within a group. Concurrent blocks then read few rows of A and few
/// columns of B, which L2 holds.
template <int BM, int BN, class In, class Out>
__device__ __forceinline__ TileCoord grouped_tile(const Gemm<In, Out>& g, unsigned tile,
                                                  unsigned rows) {
  const auto tile_rows = static_cast<unsigned>(ceil_div(g.m, BM));
  const auto tile_cols = static_cast<unsigned>(ceil_div(g.n, BN));
  const unsigned first_row = tile / (rows * tile_cols) * rows;
  const unsigned in_group = tile - first_row * tile_cols;
  const unsigned rows_here = tile_rows - first_row < rows ? tile_rows - first_row : rows;
  return {std::int64_t{first_row + in_group % rows_here} * BM,
          std::int64_t{in_group / rows_here} * BN};
}

}  // namespace rung::cuda
