#pragma once
// Divides a block into groups of threads that each compute their own product.

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/bar_red.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/ptx/warp.cuh"

namespace rung::cuda {

/// Groups of SIZE threads in a block of THREADS threads: parts of a warp, warps, or the whole
/// block.
template <int SIZE_, int THREADS>
struct ThreadGroup {
  static constexpr int SIZE = SIZE_;
  static constexpr int COUNT = THREADS / SIZE;
  static_assert(SIZE == THREADS || 32 % SIZE == 0, "a group is part of a warp or the whole block");

  static __device__ __forceinline__ int index() { return static_cast<int>(threadIdx.x) / SIZE; }
  static __device__ __forceinline__ int rank() { return static_cast<int>(threadIdx.x) % SIZE; }

  /// A barrier for the threads of the group (and of its warp): earlier writes become visible.
  static __device__ __forceinline__ void sync() {
    if constexpr (SIZE <= 32) {
      ptx::bar_warp_sync();
    } else {
      __syncthreads();
    }
  }

  /// True if `value` is true in any thread of the group. Also a barrier like sync().
  static __device__ __forceinline__ bool any(bool value) {
    static_assert(SIZE >= 32);
    if constexpr (SIZE > 32) return ptx::bar_red_or(value);
    ptx::bar_warp_sync();
    return ptx::vote_ballot(value) != 0;
  }
};

}  // namespace rung::cuda
