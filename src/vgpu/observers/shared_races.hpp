#pragma once
// Races and uninitialised reads in shared memory, granule by granule: the careful paths. The fast
// ones, which ask only whether everything here is from before the last barrier, are in
// engine/memory/shadow-inl.hpp.

#include <cstddef>
#include <cstdint>

#include "vgpu/engine/execution/block.hpp"
#include "vgpu/model/shape.hpp"

namespace rung::vgpu {

/// 32 lanes with 2^lane_shift granules each, from `first` on: reports what is not in order.
void check_reads(Block& block, const Warp& warp, std::uint32_t site, std::size_t first,
                 int lane_shift);
void check_writes(Block& block, const Warp& warp, std::uint32_t site, std::size_t first,
                  int lane_shift);

/// Any shape: checks a read against writes. `offset` is what is to be added to the shape's
/// addresses to get offsets in shared memory.
void check_read_shared(Block& block, const Warp& warp, std::uint32_t site, Shape& shape,
                       std::int64_t offset, std::uint32_t bytes);
/// Notes it for writes to come.
void log_read(Block& block, const Warp& warp, std::uint32_t site, Shape& shape, std::int64_t offset,
              std::uint32_t bytes);
void log_reads(Block& block, const Warp& warp, const ReadBatch& batch, Shape& shape);
/// Something is about to write to these regions: logged reads are noted granule by granule if any
/// of them is there.
void settle_reads(Block& block, Regions regions);
/// Any shape: checks a write, and notes who wrote. settle_reads() comes first.
void write_shared(Block& block, const Warp& warp, std::uint32_t site, Shape& shape,
                  std::int64_t offset, std::uint32_t bytes);
void atomic_shared(Block& block, const Warp& warp, std::uint32_t site, Shape& shape,
                   std::int64_t offset, std::uint32_t bytes);

/// One thread's access, at a place and for a time of its own (cp.async).
void write_shared_pending(Block& block, int thread, std::uint32_t site, std::uint32_t offset,
                          std::uint32_t bytes);
/// The same, done at once (mbarrier.init).
void write_shared_once(Block& block, int thread, std::uint32_t site, std::uint32_t offset,
                       std::uint32_t bytes);
void complete_pending(Block& block, int thread, std::uint32_t offset, std::uint32_t bytes);

}  // namespace rung::vgpu
