#pragma once
// The functions that handlers call for each access, copy and fence, to count and check it.
// observers/policies.hpp has the two tables of these functions, none and full.
//
// Handlers of the most frequent accesses decide inline if a call is needed
// (engine/memory/shadow-inl.hpp), and prepare nothing if Worker::observe is false.

#include <cstddef>
#include <cstdint>
#include <span>

#include "vgpu/happens_before/shared_shadow.hpp"
#include "vgpu/model/shape.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

class BulkTraffic;
struct Allocation;
struct AsyncCopy;
enum class AccessKind : std::uint8_t;
struct MemoryOp;
struct Place;

/// An access to the shared memory of `block`, which may be another block of the cluster than the
/// warp's.
struct AsyncAccess {
  Block& block;
  Warp& warp;
  int lane;
  std::uint32_t site;
  const char* what;     // "bulk copy", "wgmma"
  bool atomic = false;  // a thread's atomic
};

/// A range of shared memory, in bytes.
struct AsyncRange {
  std::uint32_t offset, bytes;
};

/// A range of global memory, in bytes, within one allocation.
struct GlobalRange {
  const Allocation* allocation;
  std::uint64_t address;
  std::uint32_t bytes;
};

/// A table of functions. Functions that are not set do nothing.
struct Observers {
  /// Converts to a function of any type that does nothing and returns zero.
  struct Nothing {
    template <class Result, class... Arguments>
    using Function = Result (*)(Arguments...);
    template <class Result, class... Arguments>
    constexpr operator Function<Result, Arguments...>() const {
      return [](Arguments...) { return Result(); };
    }
  };

  // Shared memory. `offset` is added to the shape's addresses to get offsets in shared memory.
  using SharedAccess = void (*)(Block& block, const Warp& warp, std::uint32_t site, Shape& shape,
                                std::int64_t offset, std::uint32_t bytes);
  /// All 32 lanes access 2^lane_shift granules each, starting at `first`.
  using LinearAccess = void (*)(Block& block, const Warp& warp, std::uint32_t site,
                                std::size_t first, int lane_shift);
  /// One thread accesses a range of bytes.
  using ThreadAccess = void (*)(Block& block, int thread, std::uint32_t site, std::uint32_t offset,
                                std::uint32_t bytes);
  void (*count_shared)(Block& block, const MemoryOp& op, Shape& shape, AccessKind kind) = Nothing{};
  /// Report races and uninitialised reads, but do not record the access.
  LinearAccess check_reads = Nothing{};
  LinearAccess check_writes = Nothing{};
  SharedAccess check_read_shared = Nothing{};
  /// True if the lane's access, which starts at offset `begin`, reads an undefined value from the granule.
  bool (*is_undefined_read)(Block& block, const Warp& warp, int lane, std::uint32_t site,
                            std::uint32_t begin, std::size_t granule) = Nothing{};
  /// Records a read, for checks of later writes.
  SharedAccess log_read = Nothing{};
  void (*log_reads)(Block& block, const Warp& warp, const ReadBatch& batch,
                    Shape& shape) = Nothing{};
  /// Called before a write to these regions: processes the reads that were logged there.
  void (*settle_reads)(Block& block, Regions regions) = Nothing{};
  /// Called before a warp's write: settle_reads(), unless the write obviously does not overlap
  /// another thread's read.
  void (*settle_reads_before)(Block& block, const Warp& warp, const Shape& shape,
                              std::int64_t offset, std::uint32_t bytes) = Nothing{};
  /// Checks and records a write. Call settle_reads() first.
  SharedAccess write_shared = Nothing{};
  SharedAccess atomic_shared = Nothing{};
  /// Records a write that is in flight until complete_pending() (cp.async).
  void (*write_shared_pending)(Block& block, const Warp& warp, std::uint32_t site,
                               const AsyncCopy& copy) = Nothing{};
  void (*complete_pending)(Block& block, const Warp& warp, const AsyncCopy& copy) = Nothing{};
  /// Records a write that is complete immediately (mbarrier.init).
  ThreadAccess write_shared_once = Nothing{};

  // Global memory.
  using GlobalAccess = void (*)(Block& block, Warp& warp, const MemoryOp& op, Shape& shape,
                                const Place& place, AccessKind kind);
  using Synchronisation = void (*)(Warp& warp, const MemoryOp& op, Shape& shape,
                                   const Place& place);
  /// Counts an access and, unless it is deferred, checks it.
  GlobalAccess observe_global = Nothing{};
  /// Reports races and uninitialised reads.
  GlobalAccess check_global = Nothing{};
  /// Called before a write that others may acquire, and after a read that may acquire. Blocks run
  /// at the same time, so a release must be recorded before its value can be read.
  Synchronisation release_by = Nothing{};
  Synchronisation acquire_by = Nothing{};
  /// membar.gl, fence.acq_rel.gpu and stronger.
  void (*observe_fence)(Warp& warp) = Nothing{};
  /// griddepcontrol.wait.
  void (*observe_grid_wait)(Warp& warp) = Nothing{};
  /// Returns the lanes among `lanes` that may run before the previous launch has completed.
  Mask (*early_lanes)(Warp& warp, Mask lanes) = Nothing{};
  void (*report_early_access)(Warp& warp, int lane, std::uint32_t site, const char* access,
                              std::uint64_t address) = Nothing{};
  /// Called when all threads of the block have synchronized and their stamps are about to be reset.
  void (*settle_grid_waits)(Block& block) = Nothing{};

  // Asynchronous operations and accesses by other blocks, in ranges of shared memory. Checks report
  // earlier accesses that are not ordered before the operation or, unless `generic`, not made
  // visible by a proxy fence. Call the notes after the checks.
  void (*check_async_read)(const AsyncAccess& access, std::span<const AsyncRange> ranges,
                           bool generic) = Nothing{};
  void (*check_async_write)(const AsyncAccess& access, std::uint32_t offset,
                            std::uint32_t bytes) = Nothing{};
  void (*note_async_read)(const AsyncAccess& access, std::span<const AsyncRange> ranges, int slot,
                          std::uint32_t read) = Nothing{};
  void (*note_async_write)(const AsyncAccess& access, std::uint32_t offset, std::uint32_t bytes,
                           std::uint32_t write) = Nothing{};
  // Bulk copies in global memory (observers/bulk_races.hpp). `access` belongs to the warp's own
  // block.
  void (*check_bulk_read)(const AsyncAccess& access, const GlobalRange& range) = Nothing{};
  void (*note_bulk_write)(const AsyncAccess& access, const GlobalRange& range, bool atomic,
                          int first_lane) = Nothing{};
  void (*complete_bulk_write)(const AsyncAccess& access, const GlobalRange& range,
                              bool atomic) = Nothing{};
  /// Counts a bulk copy into shared memory: `written` bytes over all destination blocks, and `read`
  /// bytes if the source is in shared memory.
  void (*count_bulk_load)(Worker& worker, std::uint32_t site, const BulkTraffic& traffic,
                          std::uint64_t written, std::uint64_t read) = Nothing{};
  void (*count_bulk_store)(Worker& worker, std::uint32_t site,
                           const BulkTraffic& traffic) = Nothing{};

  /// Calls the launch's watcher; only if Worker::watched. `offset` is added to the shape's
  /// addresses to get the addresses of the access or, for shared memory, offsets in it.
  void (*tell_access)(const Block& block, const Warp& warp, std::uint32_t site, Shape& shape,
                      std::int64_t offset, std::uint32_t bytes, AccessKind kind,
                      bool shared) = Nothing{};
};

}  // namespace rung::vgpu
