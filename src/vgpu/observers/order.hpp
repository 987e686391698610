#pragma once
// What happens before what inside a block: vector clocks of warps.
//
// Each warp's execution is cut into segments by its synchronisations (__syncthreads, named
// barriers,
// __syncwarp); every segment of the block has a number of its own, and numbers grow with time. An
// access is stamped with thread and segment. After C. Flanagan and S. Freund, "FastTrack: Efficient
// and Precise Dynamic Race Detection", PLDI 2009, with warps for threads.

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "vgpu/engine/warp.hpp"

namespace rung::vgpu {

/// Who accessed, and when: segment, one bit for atomics, thread of the block. 0: nobody.
using Stamp = std::uint32_t;

inline constexpr int stamp_time_shift = 11;
inline constexpr Stamp stamp_atomic = 1u << 10;
inline constexpr Stamp stamp_thread_mask = stamp_atomic - 1;
inline constexpr std::uint32_t max_time = (1u << (32 - stamp_time_shift)) - 2;
/// The segment of a write that is still in flight (cp.async): ordered before nothing.
inline constexpr std::uint32_t pending_time = max_time + 1;

inline constexpr Stamp make_stamp(std::uint32_t time, int thread) {
  return time << stamp_time_shift | static_cast<Stamp>(thread);
}
inline constexpr std::uint32_t stamp_time(Stamp stamp) { return stamp >> stamp_time_shift; }
inline constexpr int stamp_thread(Stamp stamp) {
  return static_cast<int>(stamp & stamp_thread_mask);
}

class Order {
 public:
  /// A block of so many warps begins.
  void start(int warps);

  /// The segment that the warp is in.
  std::uint32_t segment(int warp) const { return segment_[warp]; }
  /// Stamps below this are ordered before the warp's accesses, whoever made them.
  Stamp safe_below(int warp) const { return (base_[warp] + 1) << stamp_time_shift; }
  /// Whether an access happened before what this thread does now.
  bool ordered(Stamp stamp, int thread) const;

  /// All threads of the block met: everything so far is ordered before everything later.
  void meet_all();
  /// Some warps met at a barrier: `arrived` came there, `waited` (a part of them) came to wait.
  void meet(const std::vector<int>& arrived, const std::vector<int>& waited);
  /// The lanes of one warp met.
  void meet_lanes(int warp) { segment_[warp] = lanes_met_[warp] = next(); }

  // By mbarriers, warps learn of each other without meeting (engine/mbarrier.hpp).
  /// The latest segment of `other` that is ordered before what the warp does next.
  std::uint32_t known(int warp, int other) const {
    if (warp == other) return segment_[warp];
    return std::max(base_[warp], seen_[warp * warps_ + other]);
  }
  void learn(int warp, int other, std::uint32_t time) {
    if (warp != other) seen(warp, other) = std::max(seen(warp, other), time);
  }
  /// What the warp does from now on is told apart from what it did. Its lanes have not met.
  void advance(int warp) { segment_[warp] = next(); }

  /// Segment numbers are used up: old stamps must be forgotten (Shadow::forget) and start() called.
  bool exhausted() const { return now_ >= max_time; }

 private:
  std::uint32_t next() { return now_ < max_time ? ++now_ : now_; }
  std::uint32_t& seen(int warp, int other) { return seen_[warp * warps_ + other]; }

  int warps_ = 0;
  std::uint32_t now_ = 0;
  std::vector<std::uint32_t> segment_;    // by warp
  std::vector<std::uint32_t> lanes_met_;  // by warp: the first segment since its lanes met
  std::vector<std::uint32_t> base_;       // by warp: segments up to this are ordered before it
  std::vector<std::uint32_t> seen_;       // by warp and other warp: likewise, of that one alone
};

}  // namespace rung::vgpu
