#pragma once
// The shadow of an allocation in global memory: for each granule the last writer, and two threads
// that have read it since (happens_before/shared_shadow.hpp). Blocks on several CPU threads use it
// concurrently.

#include <atomic>
#include <cstdint>

#include "vgpu/happens_before/order.hpp"
#include "vgpu/memory/device_memory.hpp"

namespace rung::vgpu {

/// The block's number (DeviceMemory::number_blocks) in the upper half, and a stamp of its own
/// (happens_before/order.hpp) in the lower half.
using GlobalStamp = std::uint64_t;

inline constexpr int global_block_shift = 32;

inline constexpr GlobalStamp make_global_stamp(std::uint64_t block_number, Stamp stamp) {
  return block_number << global_block_shift | stamp;
}
inline constexpr std::uint64_t block_number_of(GlobalStamp stamp) {
  return stamp >> global_block_shift;
}
inline constexpr Stamp within_block(GlobalStamp stamp) { return static_cast<Stamp>(stamp); }

/// The last write or first read of a row: 64 aligned bytes that consecutive lanes accessed. It
/// replaces the stamps of all granules in the row, which then need no memory.
struct RowStamp {
  static constexpr std::uint64_t bytes = 64;
  static constexpr std::uint8_t apart = 0xFF;

  GlobalStamp first = 0;        // of the first lane, even if it did not access the row
  std::uint16_t site = 0;       // as in GlobalShadow
  std::uint16_t words = 0;      // bit mask of the 4-byte words accessed
  std::uint8_t lane_shift = 0;  // log2 of the bytes per lane, or `apart`: granules have stamps
};

/// Arrays with one element per granule. They have room for granules of one byte, so that their
/// addresses do not depend on the kernel's granule.
struct GlobalShadow {
  explicit GlobalShadow(const Allocation& allocation)
      : written(allocation.stamps),
        first_reader(written + allocation.bytes),
        other_reader(first_reader + allocation.bytes),
        write_site(reinterpret_cast<std::uint16_t*>(other_reader + allocation.bytes)),
        first_read_site(write_site + allocation.bytes),
        other_read_site(first_read_site + allocation.bytes),
        rows(&allocation.rows),
        written_in_launch(
            reinterpret_cast<std::uint64_t*>(aligned(other_read_site, allocation.bytes))),
        written_rows(reinterpret_cast<RowStamp*>(written_in_launch) + 1),
        read_rows(written_rows + rows_of(allocation)),
        plain_write(reinterpret_cast<GlobalStamp*>(read_rows + rows_of(allocation))),
        plain_write_site(reinterpret_cast<std::uint16_t*>(plain_write + allocation.bytes)) {}

  GlobalStamp *written, *first_reader, *other_reader;
  std::uint16_t *write_site, *first_read_site, *other_read_site;
  RecordedRows* rows;
  /// The launch that last recorded a write, identified by its first block. Stored next to the rows
  /// of writes, to save a page.
  std::uint64_t* written_in_launch;
  RowStamp *written_rows, *read_rows;  // one per row
  // The last plain write before the atomics since then, see Allocation::plain_in_launch.
  GlobalStamp* plain_write;
  std::uint16_t* plain_write_site;

 private:
  static std::size_t rows_of(const Allocation& allocation) {
    return (allocation.bytes - 1) / RowStamp::bytes + 1;
  }
  /// Stamps of large allocations start at a huge page, so that they touch few of them.
  static std::uintptr_t aligned(const std::uint16_t* last_site, std::size_t bytes) {
    constexpr std::uintptr_t huge_page = std::uintptr_t{1} << 21;
    const std::uintptr_t alignment = bytes < huge_page ? alignof(RowStamp) : huge_page;
    const auto end = reinterpret_cast<std::uintptr_t>(last_site + bytes);
    return (end + alignment - 1) / alignment * alignment;
  }
};

/// Records a read in GlobalShadow::first_reader if the entry is free: no other thread has read the
/// granule since the stamp `oldest`. Returns false if another thread has. If two threads call it at
/// the same time, one succeeds. `alone`: no other CPU thread calls it.
inline bool claim_first_reader(GlobalStamp& place, GlobalStamp stamp, GlobalStamp oldest,
                               bool alone = false) {
  const std::atomic_ref first(place);
  GlobalStamp before = first.load(std::memory_order_relaxed);
  const auto is_free = [&] {
    return before < oldest ||
           (block_number_of(before) == block_number_of(stamp) &&
            stamp_thread(within_block(before)) == stamp_thread(within_block(stamp)));
  };
  if (alone && is_free()) {
    first.store(stamp, std::memory_order_relaxed);
    return true;
  }
  while (is_free()) {
    if (first.compare_exchange_weak(before, stamp, std::memory_order_relaxed)) return true;
  }
  return false;
}

}  // namespace rung::vgpu
