#pragma once
// cp.async: copies from global to shared memory, which stay in flight until the program waits for
// them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "vgpu/model/kernel.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

/// One cp.async of a warp.
struct AsyncCopy {
  std::uint32_t bytes = 0;  // per lane: 4, 8 or 16
  int count = 0;            // number of active lanes, which the arrays list consecutively
  bool distinct = false;    // no two lanes have the same address
  std::array<std::uint8_t, warp_size> lane;
  std::array<std::uint32_t, warp_size> offset;            // in shared memory
  std::array<std::array<std::byte, 16>, warp_size> data;  // as read when the copy was issued
};

/// The copies of one warp, whose lanes commit and wait together. Data arrive in shared memory only
/// when the program waits for them, so a missing wait reads stale data.
class AsyncCopies {
 public:
  AsyncCopy& issue() {
    ++open_;
    return copies_.emplace_back();
  }
  void commit() {
    groups_.push_back(open_);
    open_ = 0;
  }
  /// Calls f(copy) for the copies of the oldest groups, until at most `left` groups are in flight.
  template <class F>
  void complete(std::size_t left, const F& f) {
    for (; groups_.size() > left; groups_.pop_front()) complete_copies(groups_.front(), f);
  }
  /// Calls f(copy) for all copies, committed or not.
  template <class F>
  void complete_all(const F& f) {
    complete(0, f);
    complete_copies(open_, f);
    open_ = 0;
  }
  /// Resets the state for a new block.
  void clear() {
    copies_.clear();
    groups_.clear();
    open_ = completed_ = 0;
  }

 private:
  template <class F>
  void complete_copies(std::size_t count, const F& f) {
    for (; count != 0; --count) f(copies_[completed_++]);
    if (completed_ < copies_.size() - completed_) return;
    copies_.erase(copies_.begin(), copies_.begin() + static_cast<std::ptrdiff_t>(completed_));
    completed_ = 0;
  }

  std::vector<AsyncCopy> copies_;   // in program order
  std::size_t completed_ = 0;       // number of leading copies that have completed
  std::deque<std::size_t> groups_;  // number of copies in each group, oldest first
  std::size_t open_ = 0;            // number of copies not yet committed
};

/// Instr::imm points at an AsyncCopyOp.
void run_async_copy(Warp& warp, const Instr& instr);
void commit_async_group(Warp& warp, const Instr& instr);
/// Waits until at most Instr::imm groups are in flight.
void wait_async_groups(Warp& warp, const Instr& instr);
/// Waits for everything, committed or not.
void wait_async_all(Warp& warp, const Instr& instr);

}  // namespace rung::vgpu
