#pragma once
// A warp: its frame and masks for handlers, and the splits of its divergent lanes.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace rung::vgpu {

class Block;
class Worker;

inline constexpr int warp_size = 32;
using Mask = std::uint32_t;
inline constexpr Mask all_lanes = 0xFFFFFFFFu;

inline constexpr int lanes_in(Mask mask) {
  // popcount is a function call on baseline x86-64
  return mask == all_lanes ? warp_size : std::popcount(mask);
}
inline constexpr int first_lane(Mask mask) { return std::countr_zero(mask); }

/// A split: lanes of a warp with the same program counter. When a branch diverges, the split waits
/// at the branch's immediate post-dominator until both parts, its children, have reached it or
/// exited. Any split that is not waiting may run, so parts of a divergent warp make progress
/// independently, as on GPUs since Volta.
struct Split {
  enum class State : std::uint8_t {
    unused,
    ready,
    waits_for_children,
    at_barrier,
    at_warp_sync,
    at_exchange  // engine/warp/rendezvous.hpp
  };
  State state = State::unused;
  Mask mask = 0;
  int block = 0;        // index of the basic block to run next
  int resume = -1;      // at_exchange: instruction of the block to resume at
  bool alone = false;   // the next exchange does not wait for missing lanes
  int reconverge = -1;  // basic block where its lanes join the parent; -1: none
  int parent = -1;
  int children = 0;
  Mask arrived = 0;        // lanes of children that have reached `block`
  int barrier = 0;         // at_barrier: number of the barrier
  Mask sync_mask = 0;      // at_warp_sync: lanes to wait for
  std::uint32_t site = 0;  // the instruction at which it waits, for reports
};

class Warp {
 public:
  /// The row at a byte offset, as 32 elements of T.
  template <class T>
  T* row(std::uint32_t offset) {
    return reinterpret_cast<T*>(frame + offset);
  }
  /// A predicate: one bit per lane.
  Mask& predicate(std::uint32_t offset) { return *reinterpret_cast<Mask*>(frame + offset); }

  std::byte* frame = nullptr;
  const std::byte* parameters = nullptr;  // of the launch
  Mask mask = 0;                          // active lanes of the instruction that is running
  Mask live = 0;                          // lanes that have not exited
  // lanes that may run before the previous launch ends (observers/early_access.hpp)
  Mask early = 0;
  Mask existing = 0;  // lanes that the block has
  Worker* worker = nullptr;
  Block* block = nullptr;
  int index = 0;    // in its block
  Mask joined = 0;  // lanes of other splits that join the next exchange
  int current = 0;
  int split_count = 1;  // the splits from here on are unused

  /// Every divergence divides the lanes, so there are at most 32 leaves and 31 parents, and as many
  /// splits that wait for a call to return. Most warps use only the first. All members above are in
  /// one cache line.
  alignas(64) std::array<Split, 3 * warp_size> splits;

  Split& split() { return splits[current]; }
  std::span<Split> used_splits() { return {splits.data(), static_cast<std::size_t>(split_count)}; }
};

}  // namespace rung::vgpu
