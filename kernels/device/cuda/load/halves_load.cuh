#pragma once
// The halves of a split operand as a tensor map, and how a thread loads tiles of them by TMA.

#include <cstdint>

#include "device/cuda/library/split_operand.hpp"
#include "device/cuda/load/tma_load.cuh"

namespace rung::cuda {

/// The map of the halves of a matrix of extent x k, whose tiles are SwizzledTiles. The host splits
/// the matrix before the launch. A box has 64 steps of `box_extent` rows or columns, or, MN-major,
/// 64 rows or columns of 64 steps.
constexpr TensorMapSpec halves_map_of(const Matrix<const float>& x, std::int64_t extent,
                                      std::int64_t k, int box_extent) {
  const bool is_k_major = x.col_stride == 1;
  return {.data = x.data,
          .element_bytes = sizeof(float),
          .row_length = is_k_major ? k : extent,
          .rows = is_k_major ? extent : k,
          .ld = is_k_major ? x.row_stride : x.col_stride,
          .box_row_length = SplitOperand::chunk,
          .box_rows = is_k_major ? box_extent : SplitOperand::chunk,
          .is_split = true,
          .is_scaled_by_row = is_k_major};
}

/// Which half of the elements a tile has.
enum class Half { high, low };

/// A tile of halves into the blocks of a cluster whose bits are set in `blocks`, or into this block
/// alone if it is 0: see load_tile().
template <int EXTENT>
__device__ __forceinline__ void load_halves(std::uint16_t blocks, std::uint32_t tile,
                                            const EncodedTensorMap& map, bool k_major, Half half,
                                            int e, int k, std::uint32_t barrier) {
  constexpr int chunk = SplitOperand::chunk;
  constexpr int W = 2;  // chunks of the map for each chunk of elements
  const int low = half == Half::low ? chunk : 0;
  if (k_major) {
    if (blocks == 0) return load_tile<EXTENT>(tile, map, true, e, W * k + low, barrier);
    return load_tile_multicast<EXTENT>(blocks, tile, map, true, e, W * k + low, barrier);
  }
  RUNG_UNROLL
  for (int part = 0; part < EXTENT; part += chunk) {
    const int x = W * (e + part) + low;
    if (blocks == 0) {
      load_tile<chunk>(tile + part * 128, map, false, x, k, barrier);
    } else {
      load_tile_multicast<chunk>(blocks, tile + part * 128, map, false, x, k, barrier);
    }
  }
}

}  // namespace rung::cuda
