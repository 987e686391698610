#pragma once
// Detects races and uninitialised reads in shared memory, granule by granule: the slow paths. The
// fast paths, which only check that everything precedes the last barrier, are in
// engine/memory/shadow-inl.hpp.

#include <cstddef>
#include <cstdint>

#include "vgpu/engine/execution/block.hpp"
#include "vgpu/model/shape.hpp"

namespace rung::vgpu {

/// True if the lane's access, which starts at offset `begin`, reads an undefined value from the granule.
bool is_undefined_read(Block& block, const Warp& warp, int lane, std::uint32_t site,
                       std::uint32_t begin, std::size_t granule);
/// Report unordered accesses for 32 lanes with 2^lane_shift granules each, starting at `first`.
void check_reads(Block& block, const Warp& warp, std::uint32_t site, std::size_t first,
                 int lane_shift);
void check_writes(Block& block, const Warp& warp, std::uint32_t site, std::size_t first,
                  int lane_shift);

/// Checks a read of any shape against writes. `offset` is added to the shape's addresses to get
/// offsets in shared memory.
void check_read_shared(Block& block, const Warp& warp, std::uint32_t site, Shape& shape,
                       std::int64_t offset, std::uint32_t bytes);
/// Records a read for checks of later writes.
void log_read(Block& block, const Warp& warp, std::uint32_t site, Shape& shape, std::int64_t offset,
              std::uint32_t bytes);
void log_reads(Block& block, const Warp& warp, const ReadBatch& batch, Shape& shape);
/// Call before a write to these regions: if any of them has logged reads, records these granule by
/// granule.
void settle_reads(Block& block, Regions regions);
/// settle_reads() before a warp's write, unless comparisons with all logged reads show that the
/// write does not overlap a read by another thread.
void settle_reads_before(Block& block, const Warp& warp, const Shape& shape, std::int64_t offset,
                         std::uint32_t bytes);
/// Checks a write of any shape, and records its writer. Call settle_reads() first.
void write_shared(Block& block, const Warp& warp, std::uint32_t site, Shape& shape,
                  std::int64_t offset, std::uint32_t bytes);
void atomic_shared(Block& block, const Warp& warp, std::uint32_t site, Shape& shape,
                   std::int64_t offset, std::uint32_t bytes);

/// Records a write that is in flight until complete_pending() (cp.async).
void write_shared_pending(Block& block, const Warp& warp, std::uint32_t site,
                          const AsyncCopy& copy);
void complete_pending(Block& block, const Warp& warp, const AsyncCopy& copy);
/// Checks and records one thread's write at an explicit offset, complete immediately
/// (mbarrier.init).
void write_shared_once(Block& block, int thread, std::uint32_t site, std::uint32_t offset,
                       std::uint32_t bytes);

}  // namespace rung::vgpu
