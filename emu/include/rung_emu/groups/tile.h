#pragma once
// Tiles of a size that is known when the program is compiled.

namespace cooperative_groups {

#define RUNG_EMU_CG __device__ __forceinline__

// SIZE neighbouring lanes, a power of two up to 32.
template <unsigned int Size>
class rung_emu_tile : public lane_group {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                "a tile has 1, 2, 4, 8, 16 or 32 threads");

 public:
  /// The tile of this thread, which is number `part` of `parts` in the group that it is taken from.
  RUNG_EMU_CG rung_emu_tile(unsigned int part, unsigned int parts)
      : lane_group(static_cast<unsigned int>(((1ull << Size) - 1) << (lane() & ~(Size - 1)))),
        part_(part),
        parts_(parts) {}

  RUNG_EMU_CG static unsigned int thread_rank() { return lane() & (Size - 1); }
  RUNG_EMU_CG static constexpr unsigned int size() { return Size; }
  RUNG_EMU_CG static constexpr unsigned int num_threads() { return Size; }
  RUNG_EMU_CG unsigned int meta_group_rank() const { return part_; }
  RUNG_EMU_CG unsigned int meta_group_size() const { return parts_; }
  template <class T>
  RUNG_EMU_CG T shfl(T value, int rank) const {
    return rung_emu::shuffle_words(
        value, [&](unsigned int word) { return __shfl_sync(mask_, word, rank, Size); });
  }
  template <class T>
  RUNG_EMU_CG T shfl_up(T value, unsigned int delta) const {
    return rung_emu::shuffle_words(
        value, [&](unsigned int word) { return __shfl_up_sync(mask_, word, delta, Size); });
  }
  template <class T>
  RUNG_EMU_CG T shfl_down(T value, unsigned int delta) const {
    return rung_emu::shuffle_words(
        value, [&](unsigned int word) { return __shfl_down_sync(mask_, word, delta, Size); });
  }
  template <class T>
  RUNG_EMU_CG T shfl_xor(T value, unsigned int lane_mask) const {
    return rung_emu::shuffle_words(value, [&](unsigned int word) {
      return __shfl_xor_sync(mask_, word, static_cast<int>(lane_mask), Size);
    });
  }
  RUNG_EMU_CG unsigned int ballot(int predicate) const {
    return own(__ballot_sync(mask_, predicate));
  }
  template <class T>
  RUNG_EMU_CG unsigned int match_any(T value) const {
    return own(__match_any_sync(mask_, value));
  }
  template <class T>
  RUNG_EMU_CG unsigned int match_all(T value, int& all) const {
    return own(__match_all_sync(mask_, value, &all));
  }

 private:
  // Masks of a tile count from its first lane.
  RUNG_EMU_CG unsigned int own(unsigned int lanes) const {
    return (lanes & mask_) >> (lane() & ~(Size - 1));
  }

  unsigned int part_, parts_;
};

// Whole warps, up to a block: they wait for each other at a named barrier of their own.
template <unsigned int Size>
class rung_emu_wide_tile {
 public:
  RUNG_EMU_CG rung_emu_wide_tile(unsigned int part, unsigned int parts)
      : part_(part), parts_(parts) {}
  RUNG_EMU_CG void sync() const {
    asm volatile("barrier.sync %0, %1;" ::"r"(1 + part_ % 15), "r"(Size) : "memory");
  }
  RUNG_EMU_CG static unsigned int thread_rank() { return thread_block::thread_rank() % Size; }
  RUNG_EMU_CG static constexpr unsigned int size() { return Size; }
  RUNG_EMU_CG static constexpr unsigned int num_threads() { return Size; }
  RUNG_EMU_CG unsigned int meta_group_rank() const { return part_; }
  RUNG_EMU_CG unsigned int meta_group_size() const { return parts_; }
  RUNG_EMU_CG int any(int predicate) const { return vote(predicate, true); }
  RUNG_EMU_CG int all(int predicate) const { return vote(predicate, false); }
  // Ranks beyond the tile's ends: the thread keeps its own value.
  template <class T>
  RUNG_EMU_CG T shfl(T value, int rank) const {
    return exchange(value, static_cast<unsigned int>(rank) % Size);
  }
  template <class T>
  RUNG_EMU_CG T shfl_up(T value, unsigned int delta) const {
    return exchange(value, thread_rank() < delta ? thread_rank() : thread_rank() - delta);
  }
  template <class T>
  RUNG_EMU_CG T shfl_down(T value, unsigned int delta) const {
    return exchange(value, thread_rank() + delta < Size ? thread_rank() + delta : thread_rank());
  }
  template <class T>
  RUNG_EMU_CG T shfl_xor(T value, unsigned int mask) const {
    const unsigned int from = thread_rank() ^ mask;
    return exchange(value, from < Size ? from : thread_rank());
  }

 private:
  // The value of thread `from` of the tile, by shared memory: a word for each thread of the block.
  template <class T>
  RUNG_EMU_CG T exchange(const T& value, unsigned int from) const {
    __shared__ unsigned int words[1024];
    unsigned int* const own = words + (thread_block::thread_rank() - thread_rank());
    return rung_emu::shuffle_words(value, [&](unsigned int word) {
      own[thread_rank()] = word;
      sync();
      const unsigned int found = own[from];
      sync();
      return found;
    });
  }

  RUNG_EMU_CG int vote(int predicate, bool any) const {
    int result;
    if (any) {
      asm volatile(
          "{ .reg .pred p, q; setp.ne.s32 p, %3, 0; barrier.red.or.pred q, %1, %2, p;"
          " selp.s32 %0, 1, 0, q; }"
          : "=r"(result)
          : "r"(1 + part_ % 15), "r"(Size), "r"(predicate)
          : "memory");
    } else {
      asm volatile(
          "{ .reg .pred p, q; setp.ne.s32 p, %3, 0; barrier.red.and.pred q, %1, %2, p;"
          " selp.s32 %0, 1, 0, q; }"
          : "=r"(result)
          : "r"(1 + part_ % 15), "r"(Size), "r"(predicate)
          : "memory");
    }
    return result;
  }

  unsigned int part_, parts_;
};

template <bool IsWide, unsigned int Size>
struct rung_emu_tile_base {
  typedef rung_emu_tile<Size> type;
};
template <unsigned int Size>
struct rung_emu_tile_base<true, Size> {
  typedef rung_emu_wide_tile<Size> type;
};

// A tile that knows what it was taken from, and one that does not.
template <unsigned int Size, class Parent = void>
class thread_block_tile : public rung_emu_tile_base<(Size > 32), Size>::type {
  typedef typename rung_emu_tile_base<(Size > 32), Size>::type base;

 public:
  using base::base;
};
template <unsigned int Size>
class thread_block_tile<Size, void> : public rung_emu_tile_base<(Size > 32), Size>::type {
  typedef typename rung_emu_tile_base<(Size > 32), Size>::type base;

 public:
  using base::base;
  template <class Parent>
  RUNG_EMU_CG thread_block_tile(const thread_block_tile<Size, Parent>& tile) : base(tile) {}
};

#undef RUNG_EMU_CG

}  // namespace cooperative_groups
