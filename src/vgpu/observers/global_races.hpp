#pragma once
// Detects races in global memory, within a block and between blocks.

#include "vgpu/engine/memory/access.hpp"

namespace rung::vgpu {

/// Checks an access against earlier ones, and records it. Blocks run concurrently: if two accesses
/// race within the few nanoseconds that a processor's store buffer holds, each may miss the other.
/// A kernel that races at only one word, and only once, can escape.
void observe_global_order(Block& block, Warp& warp, const MemoryOp& op, Shape& shape,
                          const Place& place, AccessKind kind);

/// membar.gl, fence.acq_rel.gpu and stronger (happens_before/block_releases.hpp).
void observe_fence(Warp& warp);

/// The release of a write that is an atomic, or volatile, relaxed or stronger, and the acquire of
/// such a read. Call the former before the access and the latter after it: blocks run concurrently,
/// and a reader of the new value must find what was released before it.
void release_by(Warp& warp, const MemoryOp& op, Shape& shape, const Place& place);
void acquire_by(Warp& warp, const MemoryOp& op, Shape& shape, const Place& place);

}  // namespace rung::vgpu
