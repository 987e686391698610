#pragma once
// The residues of an operand as a tensor map, and how a thread loads tiles of them by TMA.

#include <cstdint>

#include "device/cuda/library/split_residues.hpp"
#include "device/cuda/load/tma_load.cuh"

namespace rung::cuda {

/// The map of the residues of a matrix of extent x k, whose tiles are K-major SwizzledTiles. The
/// host makes them of the matrix before the launch. A box has 128 steps of `box_extent` rows or
/// columns.
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

/// A tile of residues of one modulus, from row or column e and step k on: see load_tile(). A row
/// has `steps` of each modulus.
template <int EXTENT>
__device__ __forceinline__ void load_residues(std::uint32_t tile, const EncodedTensorMap& map,
                                              int modulus, int steps, int e, int k,
                                              std::uint32_t barrier) {
  load_tile<EXTENT>(tile, map, true, e, modulus * steps + k, barrier);
}

}  // namespace rung::cuda
