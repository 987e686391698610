#pragma once
// The index of a thread's warpgroup.

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/warp.cuh"

namespace rung::cuda {

/// The index of this thread's warpgroup in its block. The shuffle tells compilers that all lanes
/// have the same index, so that values derived from it, such as wgmma descriptors, stay in uniform
/// registers. Otherwise descriptors are moved there before each wgmma, which waits for the move.
__device__ __forceinline__ int warpgroup() {
  return static_cast<int>(ptx::shfl_idx(threadIdx.x / 128, 0));
}

}  // namespace rung::cuda
