#pragma once
// Which warpgroup of its block a thread is in.

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/warp.cuh"

namespace rung::cuda {

/// The number of this thread's warpgroup in its block. A shuffle tells compilers that all lanes
/// have the same number, so what depends on it, such as wgmma descriptors, stays in uniform
/// registers. Otherwise descriptors are moved there before each wgmma, which waits for the move.
__device__ __forceinline__ int warpgroup() {
  return static_cast<int>(ptx::shfl_idx(threadIdx.x / 128, 0));
}

}  // namespace rung::cuda
