#pragma once
// Groups of threads that work together (CUDA C++ Programming Guide, "Cooperative Groups"): the
// block, tiles of a warp, the threads of a warp that are together, the grid.

#include "cuda_runtime.h"

namespace cooperative_groups {

#define RUNG_EMU_CG __device__ __forceinline__

class thread_block {
 public:
  RUNG_EMU_CG static void sync() { __syncthreads(); }
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

// What tiles and coalesced groups share: lanes of one warp, given by a mask.
class lane_group {
 public:
  RUNG_EMU_CG void sync() const { __syncwarp(mask_); }
  RUNG_EMU_CG int any(int predicate) const { return __any_sync(mask_, predicate); }
  RUNG_EMU_CG int all(int predicate) const { return __all_sync(mask_, predicate); }

 protected:
  RUNG_EMU_CG explicit lane_group(unsigned int mask) : mask_(mask) {}
  RUNG_EMU_CG static unsigned int lane() { return __nvvm_read_ptx_sreg_laneid(); }

  unsigned int mask_;
};

// SIZE neighbouring lanes, a power of two up to 32.
template <unsigned int Size, class Parent = void>
class thread_block_tile : public lane_group {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                "a tile has 1, 2, 4, 8, 16 or 32 threads");

 public:
  RUNG_EMU_CG explicit thread_block_tile(unsigned int block_rank)
      : lane_group(static_cast<unsigned int>(((1ull << Size) - 1) << (lane() & ~(Size - 1)))),
        tile_(block_rank / Size) {}

  RUNG_EMU_CG static unsigned int thread_rank() { return lane() & (Size - 1); }
  RUNG_EMU_CG static constexpr unsigned int size() { return Size; }
  RUNG_EMU_CG static constexpr unsigned int num_threads() { return Size; }
  RUNG_EMU_CG unsigned int meta_group_rank() const { return tile_; }
  RUNG_EMU_CG unsigned int meta_group_size() const {
    return (thread_block::size() + Size - 1) / Size;
  }
  template <class T>
  RUNG_EMU_CG T shfl(T value, int rank) const {
    return __shfl_sync(mask_, value, rank, Size);
  }
  template <class T>
  RUNG_EMU_CG T shfl_up(T value, unsigned int delta) const {
    return __shfl_up_sync(mask_, value, delta, Size);
  }
  template <class T>
  RUNG_EMU_CG T shfl_down(T value, unsigned int delta) const {
    return __shfl_down_sync(mask_, value, delta, Size);
  }
  template <class T>
  RUNG_EMU_CG T shfl_xor(T value, unsigned int lane_mask) const {
    return __shfl_xor_sync(mask_, value, static_cast<int>(lane_mask), Size);
  }
  RUNG_EMU_CG unsigned int ballot(int predicate) const {
    return own(__ballot_sync(mask_, predicate));
  }
  template <class T>
  RUNG_EMU_CG unsigned int match_any(T value) const {
    return own(__match_any_sync(mask_, value));
  }

 private:
  // Masks of a tile count from its first lane.
  RUNG_EMU_CG unsigned int own(unsigned int lanes) const {
    return (lanes & mask_) >> (lane() & ~(Size - 1));
  }

  unsigned int tile_;
};

template <unsigned int Size>
RUNG_EMU_CG thread_block_tile<Size, thread_block> tiled_partition(const thread_block& block) {
  return thread_block_tile<Size, thread_block>(block.thread_rank());
}
template <unsigned int Size, unsigned int ParentSize, class Parent>
RUNG_EMU_CG thread_block_tile<Size, thread_block_tile<ParentSize, Parent>> tiled_partition(
    const thread_block_tile<ParentSize, Parent>& /*parent*/) {
  static_assert(Size <= ParentSize, "a tile is a part of what it is taken from");
  return thread_block_tile<Size, thread_block_tile<ParentSize, Parent>>(
      thread_block::thread_rank());
}

// The lanes that execute this together.
class coalesced_group : public lane_group {
 public:
  RUNG_EMU_CG explicit coalesced_group(unsigned int mask) : lane_group(mask) {}

  RUNG_EMU_CG unsigned int thread_rank() const {
    return __popc(mask_ & __nvvm_read_ptx_sreg_lanemask_lt());
  }
  RUNG_EMU_CG unsigned int size() const { return __popc(mask_); }
  RUNG_EMU_CG unsigned int num_threads() const { return size(); }
  template <class T>
  RUNG_EMU_CG T shfl(T value, unsigned int rank) const {
    return __shfl_sync(mask_, value, lane_of(rank));
  }
  template <class T>
  RUNG_EMU_CG T shfl_down(T value, unsigned int delta) const {
    const unsigned int from = thread_rank() + delta;
    return __shfl_sync(mask_, value, from < size() ? lane_of(from) : static_cast<int>(lane()));
  }
  template <class T>
  RUNG_EMU_CG T shfl_up(T value, unsigned int delta) const {
    const unsigned int rank = thread_rank();
    return __shfl_sync(mask_, value,
                       rank >= delta ? lane_of(rank - delta) : static_cast<int>(lane()));
  }
  // Bit i of the result is the predicate of the group's thread i.
  RUNG_EMU_CG unsigned int ballot(int predicate) const {
    const unsigned int lanes = __ballot_sync(mask_, predicate);
    unsigned int ranks = 0;
    for (unsigned int rank = 0; rank < size(); ++rank) {
      ranks |= (lanes >> lane_of(rank) & 1u) << rank;
    }
    return ranks;
  }

 private:
  RUNG_EMU_CG int lane_of(unsigned int rank) const {
    unsigned int rest = mask_;
    for (; rank > 0; --rank) rest &= rest - 1;
    return __ffs(static_cast<int>(rest)) - 1;
  }
};
RUNG_EMU_CG coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

// All blocks. They wait for each other only in a cooperative launch, which has them all resident.
class grid_group {
 public:
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
  RUNG_EMU_CG static dim3 group_dim() { return gridDim; }
  RUNG_EMU_CG static dim3 dim_blocks() { return gridDim; }
};
RUNG_EMU_CG grid_group this_grid() { return grid_group(); }

template <class Group>
RUNG_EMU_CG void sync(const Group& group) {
  group.sync();
}

#undef RUNG_EMU_CG

}  // namespace cooperative_groups
