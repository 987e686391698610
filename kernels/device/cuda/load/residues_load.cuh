#pragma once
// The tensor map of an operand's residues, and TMA loads of their tiles.

#include <cstdint>

#include "device/cuda/library/split_residues.hpp"
#include "device/cuda/load/tma_load.cuh"

namespace rung::cuda {

/// The tensor map of the residues of an extent x k matrix, whose tiles are K-major SwizzledTiles.
/// The host computes them before the launch. A box has 128 k-steps of `box_extent` rows or columns.
constexpr TensorMapSpec residues_map_of(const Matrix<const double>& x, std::int64_t extent,
                                        std::int64_t k, int box_extent) {
  const bool is_k_major = x.col_stride == 1;
  return {.data = x.data,
          .element_bytes = sizeof(double),
          .row_length = k,
          .rows = extent,
          .ld = is_k_major ? x.row_stride : x.col_stride,
          .box_row_length = SplitResidues::chunk,
          .box_rows = box_extent,
          .is_transposed = !is_k_major,
          .is_in_digits = true};
}

/// Loads a tile of residues for one modulus, from row or column e and step k: see load_tile(). A
/// row has `steps` residues per modulus.
template <int EXTENT>
__device__ __forceinline__ void load_residues(std::uint32_t tile, const EncodedTensorMap& map,
                                              int modulus, int steps, int e, int k,
                                              std::uint32_t barrier) {
  load_tile<EXTENT>(tile, map, true, e, modulus * steps + k, barrier);
}

}  // namespace rung::cuda
