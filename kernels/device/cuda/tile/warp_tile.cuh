#pragma once
// Divides a block's tile among its warps, and a warp's tile among its lanes.

#include "device/cuda/keywords.cuh"

namespace rung::cuda {

/// A block tile of BM x BN, divided into warp tiles of WM x WN, divided into TM x TN per thread.
template <int BM, int BN, int WM, int WN, int TM, int TN>
struct WarpTile {
  static constexpr int LANES_M = WM / TM;
  static constexpr int LANES_N = WN / TN;
  static constexpr int THREADS = BM / WM * (BN / WN) * 32;
  static_assert(BM % WM == 0 && BN % WN == 0, "warps fill the block's tile");
  static_assert(LANES_M * LANES_N == 32, "a warp has 32 lanes");
  static_assert(LANES_M % 2 == 0, "lanes go by pairs of rows");

  /// The first row and column of this thread's warp in the block's tile.
  static __device__ int warp_row() { return static_cast<int>(threadIdx.x) / 32 / (BN / WN) * WM; }
  static __device__ int warp_col() { return static_cast<int>(threadIdx.x) / 32 % (BN / WN) * WN; }

  /// This thread's position among the lanes. Lanes 2i and 2i + 1 share a column, and lanes 2i and
  /// 2i + 2 share a row: a 16-byte load takes two wavefronts instead of four if lanes at distance 1
  /// or 2 read the same vector.
  static __device__ int lane_row() { return lane() / (2 * LANES_N) * 2 + lane() % 2; }
  static __device__ int lane_col() { return lane() / 2 % LANES_N; }

 private:
  static __device__ int lane() { return static_cast<int>(threadIdx.x) % 32; }
};

}  // namespace rung::cuda
