#pragma once
// The tensor map of an operand's digits, and TMA loads of their tiles.

#include <cstdint>

#include "device/cuda/library/split_digits.hpp"
#include "device/cuda/load/tma_load.cuh"

namespace rung::cuda {

/// The tensor map of the digits of an extent x k matrix, whose tiles are K-major SwizzledTiles.
/// Before the launch, the host splits the matrix, after packing it K-major if necessary. A box has
/// 128 k-steps of `box_extent` rows or columns.
constexpr TensorMapSpec digits_map_of(const Matrix<const float>& x, std::int64_t extent,
                                      std::int64_t k, int box_extent) {
  const bool is_k_major = x.col_stride == 1;
  return {.data = x.data,
          .element_bytes = sizeof(float),
          .row_length = k,
          .rows = extent,
          .ld = is_k_major ? x.row_stride : x.col_stride,
          .box_row_length = SplitDigits::chunk,
          .box_rows = box_extent,
          .is_transposed = !is_k_major,
          .is_in_digits = true};
}

/// Loads a tile of one digit, from row or column e and step k: see load_tile().
template <int EXTENT>
__device__ __forceinline__ void load_digits(std::uint16_t blocks, std::uint32_t tile,
                                            const EncodedTensorMap& map, int digit, int e, int k,
                                            std::uint32_t barrier) {
  const int x = digits::count * k + digit * SplitDigits::chunk;
  if (blocks == 0) return load_tile<EXTENT>(tile, map, true, e, x, barrier);
  load_tile_multicast<EXTENT>(blocks, tile, map, true, e, x, barrier);
}

}  // namespace rung::cuda
