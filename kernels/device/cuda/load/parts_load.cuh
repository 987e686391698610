#pragma once
// The tensor map of floats that are split into parts, and TMA loads of tiles of one part. Within a
// row, chunks of 64 elements of each part alternate.

#include <cstdint>

#include "device/cuda/library/mixed_operand.hpp"
#include "device/cuda/load/tma_load.cuh"

namespace rung::cuda {

/// The tensor map of the three parts of an extent x k matrix, whose tiles are SwizzledTiles. The
/// host splits the matrix before the launch, after widening it to float if it is bfloat16. A box
/// has 64 k-steps of `box_extent` rows or columns or, MN-major, 64 rows or columns of 64 k-steps.
constexpr TensorMapSpec parts_map_of(const Matrix<const bfloat16>& x, std::int64_t extent,
                                     std::int64_t k, int box_extent) {
  TensorMapSpec spec = tensor_map_of(x, extent, k, box_extent);
  spec.is_scaled_by_row = x.col_stride == 1;
  spec.is_split = spec.is_in_digits = true;
  return spec;
}

/// Loads a tile of one of PARTS parts into the cluster's blocks whose bits are set in `blocks`, or
/// only into this block if it is 0: see load_tile().
template <int PARTS, int EXTENT>
__device__ __forceinline__ void load_part(std::uint16_t blocks, std::uint32_t tile,
                                          const EncodedTensorMap& map, bool k_major, int part,
                                          int e, int k, std::uint32_t barrier) {
  constexpr int chunk = SplitOperand::chunk;
  static_assert(chunk == SplitParts::chunk);
  if (k_major) {
    const int x = PARTS * k + part * chunk;
    if (blocks == 0) return load_tile<EXTENT>(tile, map, true, e, x, barrier);
    return load_tile_multicast<EXTENT>(blocks, tile, map, true, e, x, barrier);
  }
  RUNG_UNROLL
  for (int from = 0; from < EXTENT; from += chunk) {
    const int x = PARTS * (e + from) + part * chunk;
    if (blocks == 0) {
      load_tile<chunk>(tile + from * 128, map, false, x, k, barrier);
    } else {
      load_tile_multicast<chunk>(blocks, tile + from * 128, map, false, x, k, barrier);
    }
  }
}

}  // namespace rung::cuda
