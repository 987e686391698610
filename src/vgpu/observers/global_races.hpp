#pragma once
// Races through global memory, within a block and between blocks.

#include <cstdint>

#include "vgpu/engine/memory/access.hpp"

namespace rung::vgpu {

/// What is remembered of a granule of global memory during one launch. A stamp is the block's index
/// plus one in the upper half, the block's own stamp (happens_before/order.hpp) in the lower; 0:
/// none.
struct GlobalGranule {
  std::uint64_t written, first_reader, other_reader;
  std::uint16_t write_site, first_read_site, other_read_site;
};

/// Checks an access against earlier ones, and notes it. Blocks run at the same time: of two
/// accesses that race within the few nanoseconds that a processor's store buffer holds, each may
/// miss the other; a kernel that races at one word only, and once only, can escape.
void observe_global_order(Block& block, Warp& warp, const MemoryOp& op, Shape& shape,
                          const Place& place, AccessKind kind);

/// membar.gl, fence.acq_rel.gpu and stronger (happens_before/block_releases.hpp).
void observe_fence(Warp& warp);

/// What a write shows that is an atomic, or marked volatile, relaxed or stronger; and what such a
/// read acquires. Call the one before the access and the other behind it: blocks run at the same
/// time, and who reads the new value must find what was released before it.
void release_by(Warp& warp, const MemoryOp& op, Shape& shape, const Place& place);
void acquire_by(Warp& warp, const MemoryOp& op, Shape& shape, const Place& place);

}  // namespace rung::vgpu
