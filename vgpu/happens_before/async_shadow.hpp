#pragma once
// Records the asynchronous operations (bulk copies and wgmma), and the threads of other blocks,
// that write to and read from each unit of a block's shared memory. Granules with such an operation
// have the stamp pending_time (happens_before/order.hpp), which tells ordinary accesses to check
// here.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rung::vgpu {

/// A bulk copy into shared memory, or a store by another block. It is ordered before any agent
/// whose clock component `component` is at least `number`: a phase of the mbarrier that it
/// completes, or a segment of the storing warp.
struct AsyncWrite {
  std::uint32_t site = 0;
  int rank = 0, thread = 0;  // the issuer
  std::size_t component = 0;
  std::uint32_t number = 0;
  const char* what = "";  // "bulk copy", "remote write", "remote atomic"
  bool atomic = false;    // by a thread of another block; does not race with other atomics
};

/// A bulk copy from shared memory, a wgmma, or a load by another block. Its number counts the
/// completed operations of its warp or warpgroup, or is a segment.
struct AsyncRead {
  std::uint32_t site = 0;
  int rank = 0, thread = 0;
  std::size_t component = 0;
  std::uint32_t number = 0;
  const char* what = "";       // "wgmma", "bulk copy", "remote read"
  std::uint32_t row_read = 0;  // of tcgen05.mma's A: SumsInUse::add() of the block's tensor memory
};

class AsyncShadow {
 public:
  /// Minimum size of an access by a bulk copy or wgmma, in bytes.
  static constexpr std::uint32_t copy_unit = 16;

  /// `groups`: number of warpgroups of the block. `unit`: bytes that every operation accesses as a
  /// whole, a power of two, at most copy_unit.
  void start(std::uint32_t bytes, int groups, std::uint32_t unit);
  std::uint32_t unit() const { return 1u << unit_shift_; }

  /// The last write to the unit at this offset, as an index into `writes`; 0: none.
  std::uint32_t& write_at(std::uint32_t offset) { return written_[offset >> unit_shift_]; }
  /// The last reads of that unit, by slot: each warpgroup's last wgmma, then the last bulk copy,
  /// then the last load by another block.
  std::uint32_t& read_at(std::uint32_t offset, int slot) {
    return readers_[(offset >> unit_shift_) * slots_ + static_cast<std::uint32_t>(slot)];
  }
  /// True if all units of [offset, end) have the same operations.
  bool is_uniform(std::uint32_t offset, std::uint32_t end) const;
  /// True if `write` was the last one to all units of [offset, end).
  bool has_write(std::uint32_t offset, std::uint32_t end, std::uint32_t write) const;
  /// Records a write to the units of [offset, end), and removes their reads.
  void set_write(std::uint32_t offset, std::uint32_t end, std::uint32_t write);
  /// Records a read of the units of [offset, end) in a slot.
  void set_read(std::uint32_t offset, std::uint32_t end, int slot, std::uint32_t read);
  int slots() const { return static_cast<int>(slots_); }
  int copy_slot() const { return slots() - 2; }
  int remote_slot() const { return slots() - 1; }

  std::vector<AsyncWrite> writes;  // index 0 means none
  std::vector<AsyncRead> reads;    // index 0 means none

 private:
  std::size_t first(std::uint32_t offset) const { return offset >> unit_shift_; }
  /// One past the last unit.
  std::size_t last(std::uint32_t end) const { return ((end - 1) >> unit_shift_) + std::size_t{1}; }

  std::uint32_t slots_ = 2;
  int unit_shift_ = 4;  // log2 of the unit
  std::vector<std::uint32_t> written_, readers_;
};

}  // namespace rung::vgpu
