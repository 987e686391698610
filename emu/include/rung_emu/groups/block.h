#pragma once
// The threads of a block, and of its cluster.

namespace cooperative_groups {

#define RUNG_EMU_CG __device__ __forceinline__

class thread_block {
 public:
  struct arrival_token {};

  RUNG_EMU_CG static void sync() { __syncthreads(); }
  /// Arriving does not wait; waiting is the whole barrier.
  RUNG_EMU_CG static arrival_token barrier_arrive() { return {}; }
  RUNG_EMU_CG static void barrier_wait(arrival_token&&) { __syncthreads(); }
  RUNG_EMU_CG static unsigned int thread_rank() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  RUNG_EMU_CG static unsigned int size() { return blockDim.x * blockDim.y * blockDim.z; }
  RUNG_EMU_CG static unsigned int num_threads() { return size(); }
  RUNG_EMU_CG static dim3 group_index() { return blockIdx; }
  RUNG_EMU_CG static dim3 thread_index() { return threadIdx; }
  RUNG_EMU_CG static dim3 group_dim() { return blockDim; }
  RUNG_EMU_CG static dim3 dim_threads() { return blockDim; }
};
RUNG_EMU_CG thread_block this_thread_block() { return thread_block(); }

/// Memory in which CUDA's larger tiles exchange values; the tiles here need none.
template <unsigned int MaxBlockSize = 1024>
struct block_tile_memory {};
template <unsigned int MaxBlockSize>
RUNG_EMU_CG thread_block this_thread_block(block_tile_memory<MaxBlockSize>&) {
  return thread_block();
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
/// The blocks of a cluster.
class cluster_group {
 public:
  struct arrival_token {};

  RUNG_EMU_CG static arrival_token barrier_arrive() {
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    return {};
  }
  RUNG_EMU_CG static void barrier_wait(arrival_token&& = {}) {
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  }
  RUNG_EMU_CG static void sync() { barrier_wait(barrier_arrive()); }
  RUNG_EMU_CG static unsigned int block_rank() {
    unsigned int rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
  }
  RUNG_EMU_CG static unsigned int num_blocks() {
    unsigned int count;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(count));
    return count;
  }
  RUNG_EMU_CG static dim3 block_index() {
    unsigned int x, y, z;
    asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(x));
    asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(y));
    asm("mov.u32 %0, %%cluster_ctaid.z;" : "=r"(z));
    return dim3(x, y, z);
  }
  RUNG_EMU_CG static dim3 dim_blocks() {
    unsigned int x, y, z;
    asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(x));
    asm("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(y));
    asm("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(z));
    return dim3(x, y, z);
  }
  RUNG_EMU_CG static unsigned int size() { return num_blocks() * thread_block::size(); }
  RUNG_EMU_CG static unsigned int num_threads() { return size(); }
  RUNG_EMU_CG static unsigned int thread_rank() {
    return block_rank() * thread_block::size() + thread_block::thread_rank();
  }
  RUNG_EMU_CG static dim3 thread_index() {
    const dim3 block = block_index();
    return dim3(block.x * blockDim.x + threadIdx.x, block.y * blockDim.y + threadIdx.y,
                block.z * blockDim.z + threadIdx.z);
  }
  RUNG_EMU_CG static dim3 dim_threads() {
    const dim3 blocks = dim_blocks();
    return dim3(blocks.x * blockDim.x, blocks.y * blockDim.y, blocks.z * blockDim.z);
  }
  /// The block that a variable of shared memory is of.
  RUNG_EMU_CG static unsigned int query_shared_rank(const void* variable) {
    unsigned int rank;
    asm("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(variable));
    return rank;
  }
  /// The same variable of another block's shared memory.
  template <class T>
  RUNG_EMU_CG static T* map_shared_rank(T* variable, int rank) {
    unsigned long long address;
    asm("mapa.u64 %0, %1, %2;" : "=l"(address) : "l"(variable), "r"(rank));
    return reinterpret_cast<T*>(address);
  }
};
RUNG_EMU_CG cluster_group this_cluster() { return cluster_group(); }
#endif

#undef RUNG_EMU_CG

}  // namespace cooperative_groups
