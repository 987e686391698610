#pragma once
// thread_group: a block, or lanes of a warp, as is known only when the program runs.

namespace cooperative_groups {

#define RUNG_EMU_CG __device__ __forceinline__

class thread_group {
 public:
  RUNG_EMU_CG thread_group(const thread_block&) : mask_(0), part_(0), parts_(1) {}
  RUNG_EMU_CG thread_group(const coalesced_group& lanes)
      : mask_(lanes.rung_emu_mask()),
        part_(lanes.meta_group_rank()),
        parts_(lanes.meta_group_size()) {}
  template <unsigned int Size, class Parent>
  RUNG_EMU_CG thread_group(const thread_block_tile<Size, Parent>& tile)
      : mask_(tile.rung_emu_mask()),
        part_(tile.meta_group_rank()),
        parts_(tile.meta_group_size()) {}

  RUNG_EMU_CG void sync() const {
    if (mask_ == 0) {
      __syncthreads();
    } else {
      __syncwarp(mask_);
    }
  }
  RUNG_EMU_CG unsigned int size() const {
    return mask_ == 0 ? thread_block::size() : __popc(mask_);
  }
  RUNG_EMU_CG unsigned int num_threads() const { return size(); }
  RUNG_EMU_CG unsigned int thread_rank() const {
    return mask_ == 0 ? thread_block::thread_rank()
                      : __popc(mask_ & __nvvm_read_ptx_sreg_lanemask_lt());
  }
  RUNG_EMU_CG unsigned int rung_emu_mask() const { return mask_; }

 private:
  unsigned int mask_;  // 0: the block
  unsigned int part_, parts_;
};

#undef RUNG_EMU_CG

}  // namespace cooperative_groups
