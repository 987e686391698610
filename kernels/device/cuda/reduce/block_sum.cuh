#pragma once
// Block-wide sums by shuffles, as in dot/cuda/08_shuffles, and grid-wide sums in a fixed order.

#include <cstdint>

#include "device/cuda/entry/launch.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/sums.cuh"

namespace rung::cuda {

inline constexpr int warp_lanes = 32;

/// The sum over the lanes of a warp, returned in lane 0.
template <class T>
__device__ __forceinline__ T warp_sum(T sum) {
  using ptx::shfl_down;  // or the overload in T's namespace
  RUNG_UNROLL
  for (int lanes = warp_lanes / 2; lanes > 0; lanes /= 2) {
    sum += shfl_down(sum, static_cast<unsigned>(lanes));
  }
  return sum;
}

/// The sum over the threads of a block, in a fixed order, returned in thread 0.
template <int THREADS, class T>
__device__ __forceinline__ T block_sum(T sum) {
  constexpr int WARPS = THREADS / warp_lanes;
  static_assert(THREADS % warp_lanes == 0 && WARPS <= warp_lanes, "one warp adds up all warps");
  __shared__ T sums[WARPS];
  sum = warp_sum(sum);
  if (threadIdx.x % warp_lanes == 0) sums[threadIdx.x / warp_lanes] = sum;
  __syncthreads();
  if (threadIdx.x < warp_lanes) {
    sum = threadIdx.x < WARPS ? sums[threadIdx.x] : T{};
    sum = warp_sum(sum);
  }
  return sum;
}

/// The workspace size for one value of T per block, after the semaphores.
template <class T>
constexpr std::int64_t block_values_bytes(std::int64_t blocks) {
  return semaphores_bytes + blocks * static_cast<std::int64_t>(sizeof(T));
}
template <class T>
__device__ __forceinline__ T* block_values(void* workspace) {
  return reinterpret_cast<T*>(static_cast<unsigned char*>(workspace) + semaphores_bytes);
}

/// Stores the value of thread 0 in this block's element of block_values(). Returns true in all
/// threads of the last block to do so, which sees the values of all blocks. Leaves the workspace
/// ready for the next launch.
template <class T>
__device__ __forceinline__ bool is_last_to_store(void* workspace, T value) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    block_values<T>(workspace)[blockIdx.x] = value;
    auto* const arrived = static_cast<unsigned*>(workspace);
    is_last = ptx::atom_inc_acq_rel_gpu(arrived, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  return is_last;
}

}  // namespace rung::cuda
