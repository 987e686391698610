#pragma once
// A tile of a K-major operand that cp.async copies without transposition, a vector along k at a
// time. A transposing copy, as in AsyncTile, moves single elements and needs four times as many
// copies. The multiplication then reads a vector of several k-steps at once
// (tile/step_fragments.cuh).

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/load/row_copies.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// EXTENT rows of BK elements in shared memory. A vector of padding follows each group of W rows,
/// so that threads whose rows are W apart read different banks.
template <class T, int EXTENT, int BK>
struct RowTile {
  static constexpr int W = vector_width<T>;
  static constexpr int GROUP = W * BK + W;
  static_assert(EXTENT % W == 0 && BK % W == 0);

  alignas(16) T elements[EXTENT / W * GROUP];

  /// The offset of a row.
  static constexpr __device__ int at(int row) { return row / W * GROUP + row % W * BK; }
};

/// The layout of the elements.
template <class T, int EXTENT, int BK>
struct RowLayout {
  using Tile = RowTile<T, EXTENT, BK>;

  static __device__ __forceinline__ const T* address(Tile* stages, int row, int k) {
    return &stages[0].elements[Tile::at(row) + k];
  }
  template <int ROWS>
  static constexpr std::uint32_t bytes_below() {
    static_assert(ROWS % Tile::W == 0, "a thread's copies are evenly apart");
    return Tile::at(ROWS) * sizeof(T);
  }
};

/// Copies such tiles, which begin at multiples of BK k-steps.
template <class T, int EXTENT, int BK, int THREADS>
using AsyncRows = RowCopies<T, EXTENT, BK, THREADS, vector_width<T>, RowLayout<T, EXTENT, BK>>;

}  // namespace rung::cuda
