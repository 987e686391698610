#pragma once
// All blocks. They wait for each other only in a cooperative launch, which has them all resident: in any
// other launch, the barrier traps, as CUDA's does.

namespace cooperative_groups {

#define RUNG_EMU_CG __device__ __forceinline__

namespace rung_emu {
/// The virtual GPU sets the highest bit of %gridid in cooperative launches (vgpu/launch.cpp).
__device__ inline bool is_cooperative() {
  unsigned long long grid;
  asm volatile("mov.u64 %0, %%gridid;" : "=l"(grid));
  return grid >> 63 != 0;
}

/// The last block to arrive lets the others go on, who wait for the generation to change. Launches run one
/// after the other, but one that used the counters of the last would seem to be ordered after it.
__device__ inline void grid_barrier(unsigned int blocks) {
  constexpr int launches = 64;
  static __device__ unsigned int all_arrived[launches], all_generations[launches];
  unsigned long long grid;
  asm volatile("mov.u64 %0, %%gridid;" : "=l"(grid));
  unsigned int& arrived = all_arrived[grid % launches];
  unsigned int& generation = all_generations[grid % launches];
  if (!is_cooperative()) {
    __assert_fail("the launch is cooperative (cudaLaunchCooperativeKernel), for sync() of the grid",
                  "rung_emu/groups/grid.h", __LINE__, "grid_group::sync()");
  }
  __syncthreads();
  if (thread_block::thread_rank() == 0) {
    __threadfence();
    const unsigned int before = *static_cast<volatile unsigned int*>(&generation);
    if (atomicAdd(&arrived, 1u) == blocks - 1) {
      atomicExch(&arrived, 0u);
      __threadfence();
      atomicAdd(&generation, 1u);
    } else {
      while (*static_cast<volatile unsigned int*>(&generation) == before) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
        __nanosleep(100);
#endif
      }
    }
    __threadfence();
  }
  __syncthreads();
}
}  // namespace rung_emu

class grid_group {
 public:
  struct arrival_token {};

  RUNG_EMU_CG static bool is_valid() { return rung_emu::is_cooperative(); }
  RUNG_EMU_CG static void sync() { rung_emu::grid_barrier(num_blocks()); }
  RUNG_EMU_CG static arrival_token barrier_arrive() { return {}; }
  RUNG_EMU_CG static void barrier_wait(arrival_token&&) { sync(); }
  RUNG_EMU_CG static unsigned long long size() {
    return static_cast<unsigned long long>(num_blocks()) * thread_block::size();
  }
  RUNG_EMU_CG static unsigned long long num_threads() { return size(); }
  RUNG_EMU_CG static unsigned int num_blocks() { return gridDim.x * gridDim.y * gridDim.z; }
  RUNG_EMU_CG static unsigned int block_rank() {
    return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  }
  RUNG_EMU_CG static unsigned long long thread_rank() {
    return static_cast<unsigned long long>(block_rank()) * thread_block::size() +
           thread_block::thread_rank();
  }
  RUNG_EMU_CG static dim3 block_index() { return blockIdx; }
  RUNG_EMU_CG static dim3 group_dim() { return gridDim; }
  RUNG_EMU_CG static dim3 dim_blocks() { return gridDim; }
};
RUNG_EMU_CG grid_group this_grid() { return grid_group(); }

/// The grids of several devices in one launch: here always this one.
class multi_grid_group : public grid_group {
 public:
  RUNG_EMU_CG static unsigned int num_grids() { return 1; }
  RUNG_EMU_CG static unsigned int grid_rank() { return 0; }
};
RUNG_EMU_CG multi_grid_group this_multi_grid() { return multi_grid_group(); }

#undef RUNG_EMU_CG

}  // namespace cooperative_groups
