#pragma once
// Divides a block's tile among its warps, for tensor cores, where a warp works as a unit.

#include "device/cuda/keywords.cuh"

namespace rung::cuda {

/// A block tile of BM x BN, divided into warp tiles of WM x WN.
template <int BM, int BN, int WM, int WN>
struct Warps {
  static constexpr int THREADS = BM / WM * (BN / WN) * 32;
  static_assert(BM % WM == 0 && BN % WN == 0, "warps fill the block's tile");

  static __device__ int warp() { return static_cast<int>(threadIdx.x) / 32; }
  static __device__ int lane() { return static_cast<int>(threadIdx.x) % 32; }
  /// The first row and column of this thread's warp in the block's tile.
  static __device__ int row() { return warp() / (BN / WN) * WM; }
  static __device__ int col() { return warp() % (BN / WN) * WN; }
};

}  // namespace rung::cuda
