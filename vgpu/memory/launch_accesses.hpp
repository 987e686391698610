#pragma once
// The bytes of each allocation that a launch accesses, for its order with the program's other
// operations (happens_before/program_shadow.hpp). Takes half a byte for each byte of the allocations
// accessed, while the launch runs.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "vgpu/memory/device_memory.hpp"

namespace rung::vgpu {

/// How an operation accesses a byte. Two synchronized accesses (atomics, and volatile or relaxed
/// ones) never conflict with each other.
enum class Touch : std::uint8_t { read, write, synchronized_read, synchronized_write };
inline constexpr std::size_t touch_kinds = 4;

/// 64 aligned bytes of an allocation: for each kind of access a mask of the bytes.
struct TouchedRow {
  static constexpr std::uint64_t bytes = 64;
  std::array<std::uint64_t, touch_kinds> masks{};
};

/// The accessed bytes of one allocation. Blocks on several CPU threads add to it concurrently.
class TouchedBytes {
 public:
  explicit TouchedBytes(const Allocation& allocation);

  /// `offset`: from the start of the allocation. The bytes must be within it.
  void add(std::uint64_t offset, std::uint64_t bytes, Touch touch) {
    const std::uint64_t begin = offset % TouchedRow::bytes;
    if (begin + bytes <= TouchedRow::bytes) {
      const std::uint64_t mask = (~std::uint64_t{0} >> (TouchedRow::bytes - bytes)) << begin;
      if ((masks(offset / TouchedRow::bytes, touch).load(std::memory_order_relaxed) & mask) ==
          mask) {
        return;
      }
    }
    add_rows(offset, bytes, touch);
  }

  /// Calls f(row index, row) for rows with accesses, in ascending order.
  template <class F>
  void for_each_row(const F& f) const {
    for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
      if (chunks_[chunk] == 0) continue;
      const std::size_t end = std::min(count_, (chunk + 1) * rows_of_chunk);
      for (std::size_t i = chunk * rows_of_chunk; i < end; ++i) {
        const auto& masks = rows_[i].masks;
        if ((masks[0] | masks[1] | masks[2] | masks[3]) != 0) f(i, rows_[i]);
      }
    }
  }

  const Allocation& allocation() const { return *allocation_; }

 private:
  std::atomic_ref<std::uint64_t> masks(std::size_t row, Touch touch) const {
    return std::atomic_ref(rows_[row].masks[static_cast<std::size_t>(touch)]);
  }
  void add_rows(std::uint64_t offset, std::uint64_t bytes, Touch touch);

  static constexpr std::size_t rows_of_chunk = 64;
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };

  const Allocation* allocation_;
  std::size_t count_;
  std::unique_ptr<TouchedRow[], Free> rows_;  // zero pages until they are touched
  std::vector<std::uint8_t> chunks_;          // 1 if a row of the chunk has accesses
};

/// The accesses of a launch. `early`: before the thread's griddepcontrol.wait.
class LaunchAccesses {
 public:
  /// `host_only`: records accesses to memory that the host can access, and no others.
  explicit LaunchAccesses(bool host_only) : host_only_(host_only) {}
  ~LaunchAccesses();
  LaunchAccesses(const LaunchAccesses&) = delete;
  LaunchAccesses& operator=(const LaunchAccesses&) = delete;

  bool includes(const Allocation& allocation) const { return !host_only_ || allocation.host; }
  /// The record for an allocation that is included.
  TouchedBytes& of(const Allocation& allocation, bool early);

  /// A thread of the block has executed griddepcontrol.wait, or launch_dependents.
  void note_wait(std::uint64_t block);
  void note_trigger(std::uint64_t block);
  /// A thread has released writes before a synchronized write, or acquired those before a synchronized read.
  void note_release() { has_released_.store(true, std::memory_order_relaxed); }
  void note_acquire() { has_acquired_.store(true, std::memory_order_relaxed); }
  bool has_released() const { return has_released_.load(std::memory_order_relaxed); }
  bool has_acquired() const { return has_acquired_.load(std::memory_order_relaxed); }

  /// Some thread has waited for the previous kernel.
  bool has_waited() const { return has_waited_.load(std::memory_order_relaxed); }
  /// Some block has waited before it triggered, so that dependent kernels start after the wait.
  bool triggers_after_wait() const { return triggers_late_.load(std::memory_order_relaxed); }

  const std::vector<std::unique_ptr<TouchedBytes>>& touched(bool early) const {
    return touched_[early ? 1 : 0];
  }

 private:
  const bool host_only_;
  std::atomic<bool> has_waited_ = false, triggers_late_ = false;
  std::atomic<bool> has_released_ = false, has_acquired_ = false;
  std::set<std::uint64_t> triggered_;  // blocks
  std::mutex mutex_;
  std::array<std::vector<std::unique_ptr<TouchedBytes>>, 2> touched_;  // by `early`
};

}  // namespace rung::vgpu
