#pragma once
// A tile of doubles in shared memory with the layout of its operand, K-major or MN-major. cp.async
// writes it, and warps read fragments of mma from it, both without bank conflicts.

#include "device/cuda/keywords.cuh"

namespace rung::cuda {

/// EXTENT x BK doubles. A line is a run of contiguous elements. Its pieces of 32 bytes are swizzled,
/// by an exclusive or with the number of the line: half a warp reads four neighbours of four lines at
/// a time, and each line's lie in banks of their own.
template <int EXTENT, int BK, bool K_MAJOR>
struct F64Tile {
  static constexpr int LINES = K_MAJOR ? EXTENT : BK;
  static constexpr int LENGTH = K_MAJOR ? BK : EXTENT;
  static constexpr int CHUNKS = LENGTH / 2;  // of 16 bytes, in a line
  static_assert(LENGTH % 16 == 0, "the swizzle permutes four pieces");

  /// The index of a line's element in the tile.
  static constexpr __device__ int at(int line, int within) {
    return line * LENGTH + (within ^ line % 4 * 4);
  }
};

/// Reads a lane's elements of fragments from a tile: of 8 rows (or columns) and 4 steps, lane l has
/// row l / 4 of step l % 4. All addresses of a lane differ by constants from one or two, or four,
/// that the swizzle makes.
template <int EXTENT, int BK, bool K_MAJOR>
class F64Reader {
  using Tile = F64Tile<EXTENT, BK, K_MAJOR>;

 public:
  /// For the warp whose rows (or columns) begin at e0, a multiple of 16.
  __device__ __forceinline__ explicit F64Reader(int e0) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int e = e0 + lane / 4;
    const int k = lane % 4;
    first_ = K_MAJOR ? Tile::at(e, k) : Tile::at(k, e);
  }

  /// Element (l / 4, l % 4) of the 8 x 4 at (e, k) from the warp's first on; e is a multiple of 8, k
  /// of 4.
  __device__ __forceinline__ double operator()(const double* tile, int e, int k) const {
    const int within = K_MAJOR ? k : e;
    const int lines = K_MAJOR ? e : k;
    return tile[(first_ ^ within % 16) + within / 16 * 16 + lines * Tile::LENGTH];
  }

 private:
  int first_;  // the index of element (0, 0)
};

}  // namespace rung::cuda
