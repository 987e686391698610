#pragma once
// Who wrote to, and who reads from, each 16 bytes of a block's shared memory asynchronously: bulk
// copies and wgmma. Granules with such a write or read bear a stamp of pending_time
// (happens_before/order.hpp), so that ordinary accesses know to look here.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rung::vgpu {

/// A bulk copy into shared memory, or a store of another block's. It is ordered before whoever has
/// `number` or more in that component of the clock: a phase of the mbarrier which it completes, or
/// a segment of the warp that stores.
struct AsyncWrite {
  std::uint32_t site = 0;
  int rank = 0, thread = 0;  // who issued it
  std::size_t component = 0;
  std::uint32_t number = 0;
  const char* what = "";  // "bulk copy", "remote write"
};

/// A bulk copy from shared memory, a wgmma, or a load of another block's. Likewise: how many of its
/// warp's or warpgroup's have ended, or a segment.
struct AsyncRead {
  std::uint32_t site = 0;
  int rank = 0, thread = 0;
  std::size_t component = 0;
  std::uint32_t number = 0;
  const char* what = "";  // "wgmma", "bulk copy", "remote read"
};

class AsyncShadow {
 public:
  static constexpr std::uint32_t unit = 16;  // bytes: none of these operations takes less

  /// `groups`: warpgroups of the block.
  void start(std::uint32_t bytes, int groups);

  /// The write that the unit at this offset got last, as an index of `writes`; 0: none.
  std::uint32_t& write_at(std::uint32_t offset) { return written_[offset / unit]; }
  /// The reads of it: each warpgroup's last wgmma, and behind those the last bulk copy and the last
  /// load of another block's.
  std::uint32_t& read_at(std::uint32_t offset, int slot) {
    return readers_[offset / unit * slots_ + static_cast<std::uint32_t>(slot)];
  }
  int slots() const { return static_cast<int>(slots_); }
  int copy_slot() const { return slots() - 2; }
  int remote_slot() const { return slots() - 1; }

  std::vector<AsyncWrite> writes;  // [0] is none
  std::vector<AsyncRead> reads;    // likewise

 private:
  std::uint32_t slots_ = 2;
  std::vector<std::uint32_t> written_, readers_;
};

}  // namespace rung::vgpu
