#pragma once
// The mbarriers of a circular buffer of stages. One thread of each block in a cluster fills the
// stages, and warps of all its blocks read them.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/load/pipeline_state.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/ptx/sm_90.cuh"

namespace rung::cuda {

template <int STAGES, int CLUSTER>
struct StageBarriers {
  std::uint64_t full[STAGES];   // the tiles have arrived
  std::uint64_t empty[STAGES];  // all blocks of the cluster have read them

  /// Called by one thread. `warps`: number of reading warps per block.
  __device__ __forceinline__ void init(int warps) { init(1, warps); }

  /// As above, with `threads` arrivals per phase at `full`.
  __device__ __forceinline__ void init(int threads, int warps) {
    for (int stage = 0; stage < STAGES; ++stage) {
      ptx::mbarrier_init(ptx::cvta_to_shared(&full[stage]), threads);
      ptx::mbarrier_init(ptx::cvta_to_shared(&empty[stage]), CLUSTER * warps);
    }
    ptx::fence_mbarrier_init();
  }

  /// Waits until a stage is empty in all blocks, which is always true in the first round. Then
  /// expects `bytes` bytes at this block's `full` mbarrier and returns its address.
  __device__ __forceinline__ std::uint32_t expect(const PipelineState<STAGES>& state, int bytes) {
    const std::uint32_t barrier = wait_until_empty(state);
    ptx::mbarrier_arrive_expect_tx(barrier, bytes);
    return barrier;
  }

  /// Waits until a stage is empty in all blocks. The caller signals the returned `full` mbarrier
  /// itself.
  __device__ __forceinline__ std::uint32_t wait_until_empty(const PipelineState<STAGES>& state) {
    ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&empty[state.stage]), state.parity ^ 1);
    return ptx::cvta_to_shared(&full[state.stage]);
  }

  __device__ __forceinline__ void wait_until_full(const PipelineState<STAGES>& state) {
    ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&full[state.stage]), state.parity);
  }

  /// Signals that this warp has finished reading the stage.
  __device__ __forceinline__ void release(int stage) {
    const std::uint32_t block = threadIdx.x % 32;
    const std::uint32_t barrier = ptx::cvta_to_shared(&empty[stage]);
    if constexpr (CLUSTER == 1) {
      if (block == 0) ptx::mbarrier_arrive(barrier);
    } else {
      if (block < CLUSTER) ptx::mbarrier_arrive_cluster(barrier, block);
    }
  }
};

}  // namespace rung::cuda
