#pragma once
// A tile of doubles in shared memory with the layout of its operand, K-major or MN-major. cp.async
// writes it, and warps read mma fragments from it, both without bank conflicts.

#include "device/cuda/keywords.cuh"

namespace rung::cuda {

/// EXTENT x BK doubles. A line is a run of contiguous elements. Its 32-byte pieces are swizzled by
/// an XOR with the line number: half a warp reads four adjacent elements of four lines at a time,
/// and each line's are in different banks.
template <int EXTENT, int BK, bool K_MAJOR>
struct F64Tile {
  static constexpr int LINES = K_MAJOR ? EXTENT : BK;
  static constexpr int LENGTH = K_MAJOR ? BK : EXTENT;
  static constexpr int CHUNKS = LENGTH / 2;  // 16-byte chunks per line
  static_assert(LENGTH % 16 == 0, "the swizzle permutes four pieces");

  /// The index of element `within` of a line.
  static constexpr __device__ int at(int line, int within) {
    return line * LENGTH + (within ^ line % 4 * 4);
  }
};

/// Reads a lane's fragment elements from a tile: for 8 rows (or columns) and 4 k-steps, lane l has
/// row l / 4, step l % 4. The addresses of a lane differ by constants from the one, two or four
/// that the swizzle requires.
template <int EXTENT, int BK, bool K_MAJOR>
class F64Reader {
  using Tile = F64Tile<EXTENT, BK, K_MAJOR>;

 public:
  /// For a warp whose rows (or columns) begin at e0, a multiple of 16.
  __device__ __forceinline__ explicit F64Reader(int e0) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int e = e0 + lane / 4;
    const int k = lane % 4;
    first_ = K_MAJOR ? Tile::at(e, k) : Tile::at(k, e);
  }

  /// Element (l / 4, l % 4) of the 8 x 4 elements at offset (e, k) from the warp's first one; e is
  /// a multiple of 8, k of 4.
  __device__ __forceinline__ double operator()(const double* tile, int e, int k) const {
    const int within = K_MAJOR ? k : e;
    const int lines = K_MAJOR ? e : k;
    return tile[(first_ ^ within % 16) + within / 16 * 16 + lines * Tile::LENGTH];
  }

 private:
  int first_;  // index of element (0, 0)
};

}  // namespace rung::cuda
