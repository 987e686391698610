#pragma once
// The happens-before order within a block, as vector clocks of warps.
//
// Synchronization (__syncthreads, named barriers, __syncwarp) divides each warp's execution into
// segments. Every segment of the block has a unique number, and numbers grow with time. An access
// is stamped with its thread and segment. After C. Flanagan and S. Freund, "FastTrack: Efficient
// and Precise Dynamic Race Detection", PLDI 2009, with warps instead of threads.

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

/// An access's segment, one bit for atomics, and its thread in the block. 0: no access.
using Stamp = std::uint32_t;

inline constexpr int stamp_time_shift = 11;
inline constexpr Stamp stamp_atomic = 1u << 10;
inline constexpr Stamp stamp_thread_mask = stamp_atomic - 1;
inline constexpr std::uint32_t max_time = (1u << (32 - stamp_time_shift)) - 2;
/// The segment of a write in flight (cp.async), which is not ordered before any access.
inline constexpr std::uint32_t pending_time = max_time + 1;

inline constexpr Stamp make_stamp(std::uint32_t time, int thread) {
  return time << stamp_time_shift | static_cast<Stamp>(thread);
}
inline constexpr std::uint32_t stamp_time(Stamp stamp) { return stamp >> stamp_time_shift; }
inline constexpr int stamp_thread(Stamp stamp) {
  return static_cast<int>(stamp & stamp_thread_mask);
}

/// True if comparisons alone show that an access is ordered before those of a thread: it is older
/// than `safe` (Order::safe_below), or it is the thread's own and complete.
inline constexpr bool is_plainly_ordered(Stamp stamp, Stamp safe, int thread) {
  const bool own = ((stamp ^ static_cast<Stamp>(thread)) & stamp_thread_mask) == 0;
  return stamp < safe || (own && stamp < make_stamp(pending_time, 0));
}

/// The memory that a barrier orders: in CUDA all memory, in Metal the memory of its mem_flags.
struct OrderedMemory {
  bool shared = true, device = true;

  /// The memory that both order.
  OrderedMemory operator&(OrderedMemory other) const {
    return {shared && other.shared, device && other.device};
  }
};

/// A warp that arrived at a barrier: its work up to that segment is ordered before every warp that
/// waits there.
struct Arrival {
  int warp;
  std::uint32_t segment;
};

class Order {
 public:
  /// Starts a block of `warps` warps.
  void start(int warps);

  /// The warp's current segment.
  std::uint32_t segment(int warp) const { return segment_[warp]; }
  /// Stamps below this are ordered before the warp's accesses, for every thread.
  Stamp safe_below(int warp) const { return (shared_.base[warp] + 1) << stamp_time_shift; }
  Stamp safe_below_in_device_memory(int warp) const {
    return (device_.base[warp] + 1) << stamp_time_shift;
  }
  /// True if an access to shared or to device memory is ordered before this thread's next access.
  bool ordered(Stamp stamp, int thread) const { return ordered(shared_, stamp, thread); }
  bool ordered_in_device_memory(Stamp stamp, int thread) const {
    return ordered(device_, stamp, thread);
  }

  /// All threads of the block have synchronized: everything before is ordered before everything
  /// after.
  void synchronize_all(OrderedMemory memory = {});
  /// Some warps have synchronized at a barrier. `arrived`: warps that arrived; `waited`: the subset
  /// that waited.
  void meet(const std::vector<Arrival>& arrived, const std::vector<int>& waited,
            OrderedMemory memory = {});
  /// The lanes of one warp have synchronized.
  void synchronize_lanes(int warp, OrderedMemory memory = {}) {
    segment_[warp] = next();
    if (memory.shared) shared_.lanes_met[warp] = segment_[warp];
    if (memory.device) device_.lanes_met[warp] = segment_[warp];
  }

  // mbarriers order warps without a common barrier (engine/async/mbarrier.hpp).
  /// The latest segment of `other` that is ordered before the warp's next operation.
  std::uint32_t known(int warp, int other) const {
    if (warp == other) return segment_[warp];
    return std::max(shared_.base[warp], shared_.seen[warp * warps_ + other]);
  }
  std::uint32_t known_in_device_memory(int warp, int other) const {
    if (warp == other) return segment_[warp];
    return std::max(device_.base[warp], device_.seen[warp * warps_ + other]);
  }
  void learn(int warp, int other, std::uint32_t time) {
    if (warp == other) return;
    for (Knowledge* const known : {&shared_, &device_}) {
      std::uint32_t& seen = known->seen[warp * warps_ + other];
      seen = std::max(seen, time);
    }
  }
  /// Starts a new segment of the warp, whose lanes have not synchronized.
  void advance(int warp) { segment_[warp] = next(); }

  /// True if segment numbers are exhausted: reset old stamps (Shadow::forget) and call start().
  bool exhausted() const { return now_ >= max_time; }

 private:
  /// The accesses to one kind of memory that are ordered before the warps' next accesses.
  struct Knowledge {
    std::vector<std::uint32_t> lanes_met;  // by warp: first segment since its lanes synchronized
    std::vector<std::uint32_t> base;       // by warp: segments up to this one are ordered before it
    std::vector<std::uint32_t> seen;       // by warp and other warp: last segment of the other one
  };

  bool ordered(const Knowledge& known, Stamp stamp, int thread) const;
  void meet(Knowledge& known, const std::vector<Arrival>& arrived,
            const std::vector<int>& waited) const;
  std::uint32_t next() { return now_ < max_time ? ++now_ : now_; }

  int warps_ = 0;
  std::uint32_t now_ = 0;
  std::vector<std::uint32_t> segment_;  // per warp
  Knowledge shared_, device_;
};

inline bool Order::ordered(const Knowledge& known, Stamp stamp, int thread) const {
  const std::uint32_t time = stamp_time(stamp);
  if (time == pending_time) return false;
  const int warp = thread / warp_size;
  if (time <= known.base[warp] || stamp_thread(stamp) == thread) return true;
  const int other = stamp_thread(stamp) / warp_size;
  if (other == warp) return time < known.lanes_met[warp];
  return time <= known.seen[warp * warps_ + other];
}

}  // namespace rung::vgpu
