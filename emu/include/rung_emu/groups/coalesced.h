#pragma once
// Lanes of one warp, given by a mask: what tiles and coalesced groups share, and the latter.

namespace cooperative_groups {

#define RUNG_EMU_CG __device__ __forceinline__

class lane_group {
 public:
  RUNG_EMU_CG void sync() const { __syncwarp(mask_); }
  RUNG_EMU_CG int any(int predicate) const { return __any_sync(mask_, predicate); }
  RUNG_EMU_CG int all(int predicate) const { return __all_sync(mask_, predicate); }
  RUNG_EMU_CG unsigned int rung_emu_mask() const { return mask_; }

 protected:
  RUNG_EMU_CG explicit lane_group(unsigned int mask) : mask_(mask) {}
  RUNG_EMU_CG static unsigned int lane() { return rung_emu::lane(); }

  unsigned int mask_;
};

// The lanes that execute this together, or a part of them.
class coalesced_group : public lane_group {
 public:
  RUNG_EMU_CG explicit coalesced_group(unsigned int mask, unsigned int part = 0,
                                       unsigned int parts = 1)
      : lane_group(mask), part_(part), parts_(parts) {}

  RUNG_EMU_CG unsigned int thread_rank() const {
    return __popc(mask_ & __nvvm_read_ptx_sreg_lanemask_lt());
  }
  RUNG_EMU_CG unsigned int size() const { return __popc(mask_); }
  RUNG_EMU_CG unsigned int num_threads() const { return size(); }
  RUNG_EMU_CG unsigned int meta_group_rank() const { return part_; }
  RUNG_EMU_CG unsigned int meta_group_size() const { return parts_; }

  template <class T>
  RUNG_EMU_CG T shfl(T value, unsigned int rank) const {
    return from_lane(value, lane_of(rank));
  }
  template <class T>
  RUNG_EMU_CG T shfl_down(T value, unsigned int delta) const {
    const unsigned int from = thread_rank() + delta;
    return from_lane(value, from < size() ? lane_of(from) : static_cast<int>(lane()));
  }
  template <class T>
  RUNG_EMU_CG T shfl_up(T value, unsigned int delta) const {
    const unsigned int rank = thread_rank();
    return from_lane(value, rank >= delta ? lane_of(rank - delta) : static_cast<int>(lane()));
  }
  // Bit i of the result is the predicate of the group's thread i.
  RUNG_EMU_CG unsigned int ballot(int predicate) const {
    return ranks(__ballot_sync(mask_, predicate));
  }
  template <class T>
  RUNG_EMU_CG unsigned int match_any(T value) const {
    return ranks(__match_any_sync(mask_, value));
  }
  template <class T>
  RUNG_EMU_CG unsigned int match_all(T value, int& all) const {
    return ranks(__match_all_sync(mask_, value, &all));
  }

 private:
  template <class T>
  RUNG_EMU_CG T from_lane(const T& value, int from) const {
    return rung_emu::shuffle_words(
        value, [&](unsigned int word) { return __shfl_sync(mask_, word, from); });
  }
  RUNG_EMU_CG unsigned int ranks(unsigned int lanes) const {
    unsigned int found = 0;
    for (unsigned int rank = 0; rank < size(); ++rank) {
      found |= (lanes >> lane_of(rank) & 1u) << rank;
    }
    return found;
  }
  RUNG_EMU_CG int lane_of(unsigned int rank) const { return rung_emu::lane_of(mask_, rank); }

  unsigned int part_, parts_;
};
RUNG_EMU_CG coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

#undef RUNG_EMU_CG

}  // namespace cooperative_groups
