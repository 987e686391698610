#pragma once
// How a launch is observed: what handlers call with each access, copy and fence, so that it is
// counted and checked. observers/policies.hpp has the two policies, none and full.
//
// Handlers for the most frequent accesses first decide inline whether there is anything to check
// (engine/memory/shadow-inl.hpp), and skip their preparations where Worker::observe is false.

#include <cstddef>
#include <cstdint>

#include "vgpu/happens_before/shared_shadow.hpp"
#include "vgpu/model/shape.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

class BulkTraffic;
enum class AccessKind : std::uint8_t;
struct MemoryOp;
struct Place;

/// Who accesses shared memory of `block`, which may be another block of the cluster than the
/// warp's.
struct AsyncAccess {
  Block& block;
  Warp& warp;
  int lane;
  std::uint32_t site;
  const char* what;  // "bulk copy", "wgmma"
};

/// A table of functions; one that is not set does nothing.
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

  // Shared memory. `offset` leads from the shape's addresses to offsets in shared memory.
  using SharedAccess = void (*)(Block& block, const Warp& warp, std::uint32_t site, Shape& shape,
                                std::int64_t offset, std::uint32_t bytes);
  /// 32 lanes with 2^lane_shift granules each, from `first` on.
  using LinearAccess = void (*)(Block& block, const Warp& warp, std::uint32_t site,
                                std::size_t first, int lane_shift);
  /// One thread's bytes.
  using ThreadAccess = void (*)(Block& block, int thread, std::uint32_t site, std::uint32_t offset,
                                std::uint32_t bytes);
  void (*count_shared)(Block& block, const MemoryOp& op, Shape& shape, AccessKind kind) = Nothing{};
  /// Report what is not in order; they note nothing.
  LinearAccess check_reads = Nothing{};
  LinearAccess check_writes = Nothing{};
  SharedAccess check_read_shared = Nothing{};
  /// Notes a read for writes to come.
  SharedAccess log_read = Nothing{};
  void (*log_reads)(Block& block, const Warp& warp, const ReadBatch& batch,
                    Shape& shape) = Nothing{};
  /// Something is about to write to these regions: works through the reads that were logged there.
  void (*settle_reads)(Block& block, Regions regions) = Nothing{};
  /// Checks a write and notes it. settle_reads() comes first.
  SharedAccess write_shared = Nothing{};
  SharedAccess atomic_shared = Nothing{};
  /// A write that is in flight until complete_pending() (cp.async).
  ThreadAccess write_shared_pending = Nothing{};
  /// A write that is done at once (mbarrier.init).
  ThreadAccess write_shared_once = Nothing{};
  void (*complete_pending)(Block& block, int thread, std::uint32_t offset,
                           std::uint32_t bytes) = Nothing{};

  // Global memory.
  using GlobalAccess = void (*)(Block& block, Warp& warp, const MemoryOp& op, Shape& shape,
                                const Place& place, AccessKind kind);
  using Synchronisation = void (*)(Warp& warp, const MemoryOp& op, Shape& shape,
                                   const Place& place);
  /// Counts an access and, unless it is deferred, checks it.
  GlobalAccess observe_global = Nothing{};
  /// Whether what is accessed was written, and in order.
  GlobalAccess check_global = Nothing{};
  /// Before a write that others may acquire, and after a read that may acquire: blocks run at the
  /// same time, and who reads the new value must find what was released before it.
  Synchronisation release_by = Nothing{};
  Synchronisation acquire_by = Nothing{};
  /// membar.gl, fence.acq_rel.gpu and stronger.
  void (*observe_fence)(Warp& warp) = Nothing{};
  /// griddepcontrol.wait.
  void (*observe_grid_wait)(Warp& warp) = Nothing{};
  /// Those of the lanes that run before the launch ahead has ended, for all that is known.
  Mask (*early_lanes)(Warp& warp, Mask lanes) = Nothing{};
  void (*report_early_access)(Warp& warp, int lane, std::uint32_t site, const char* access,
                              std::uint64_t address) = Nothing{};
  /// All threads of the block have met, and their stamps are about to be forgotten.
  void (*settle_grid_waits)(Block& block) = Nothing{};

  // Asynchronous operations, and other blocks' accesses, in [offset, offset + bytes) of shared
  // memory. Checks report what is not ordered before or, unless `generic`, not made visible by a
  // proxy fence; notes come after them.
  void (*check_async_read)(const AsyncAccess& access, std::uint32_t offset, std::uint32_t bytes,
                           bool generic) = Nothing{};
  void (*check_async_write)(const AsyncAccess& access, std::uint32_t offset,
                            std::uint32_t bytes) = Nothing{};
  void (*note_async_read)(const AsyncAccess& access, std::uint32_t offset, std::uint32_t bytes,
                          int slot, std::uint32_t read) = Nothing{};
  void (*note_async_write)(const AsyncAccess& access, std::uint32_t offset, std::uint32_t bytes,
                           std::uint32_t write) = Nothing{};
  /// A bulk copy into shared memory: `written` bytes there, of all blocks that it goes to; `read`
  /// bytes if it comes from there.
  void (*count_bulk_load)(Worker& worker, std::uint32_t site, const BulkTraffic& traffic,
                          std::uint64_t written, std::uint64_t read) = Nothing{};
  void (*count_bulk_store)(Worker& worker, std::uint32_t site,
                           const BulkTraffic& traffic) = Nothing{};

  /// Tells the launch's watcher; only where Worker::watched. `offset`: from the shape's addresses
  /// to those of the access, or in shared memory to its place there.
  void (*tell_access)(const Block& block, const Warp& warp, std::uint32_t site, Shape& shape,
                      std::int64_t offset, std::uint32_t bytes, AccessKind kind,
                      bool shared) = Nothing{};
};

}  // namespace rung::vgpu
