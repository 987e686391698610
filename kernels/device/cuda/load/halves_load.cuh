#pragma once
// The tensor map of a split operand's halves, and TMA loads of their tiles.

#include <cstdint>

#include "device/cuda/library/split_operand.hpp"
#include "device/cuda/load/parts_load.cuh"

namespace rung::cuda {

/// The tensor map of the halves of an extent x k matrix, whose tiles are SwizzledTiles. The host
/// splits the matrix before the launch. A box has 64 k-steps of `box_extent` rows or columns or,
/// MN-major, 64 rows or columns of 64 k-steps.
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

/// Selects the high or the low halves of elements.
enum class Half { high, low };

/// Loads a tile of halves into the cluster's blocks whose bits are set in `blocks`, or only into
/// this block if it is 0: see load_tile().
template <int EXTENT>
__device__ __forceinline__ void load_halves(std::uint16_t blocks, std::uint32_t tile,
                                            const EncodedTensorMap& map, bool k_major, Half half,
                                            int e, int k, std::uint32_t barrier) {
  load_part<2, EXTENT>(blocks, tile, map, k_major, static_cast<int>(half), e, k, barrier);
}

}  // namespace rung::cuda
