#pragma once
// Which warpgroup of its block a thread is in.

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/warp.cuh"

namespace rung::cuda {

/// The number of this thread's warpgroup in its block. It comes from a lane, so that compilers know that
/// all lanes have the same: what depends on it, as descriptors of wgmma do, stays in uniform registers.
/// Otherwise it is moved there before each wgmma, which waits for that.
__device__ __forceinline__ int warpgroup() {
  return static_cast<int>(ptx::shfl_idx(threadIdx.x / 128, 0));
}

}  // namespace rung::cuda
