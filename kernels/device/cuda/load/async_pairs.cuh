#pragma once
// A tile of a K-major operand that cp.async copies in pairs of elements along k. A transposing
// copy, as in AsyncTile, moves single elements and needs twice as many copies. The multiplication
// reads two k-steps at once (tile/step_fragments.cuh).

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/load/row_copies.cuh"

namespace rung::cuda {

/// A tile stored as [BK / 2][LD] pairs.
template <class T, int BK, int LD>
struct PairLayout {
  using Tile = T[BK / 2][LD];

  static __device__ __forceinline__ const T* address(Tile* stages, int row, int k) {
    return &stages[0][k / 2][row * 2];
  }
  template <int ROWS>
  static constexpr std::uint32_t bytes_below() {
    return ROWS * 2 * sizeof(T);
  }
};

/// Copies such tiles, which begin at multiples of BK k-steps.
template <class T, int EXTENT, int BK, int LD, int THREADS>
using AsyncPairs = RowCopies<T, EXTENT, BK, THREADS, 2, PairLayout<T, BK, LD>>;

}  // namespace rung::cuda
