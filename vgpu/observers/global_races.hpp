#pragma once
// Detects races in global memory, within a block and between blocks.

#include "vgpu/engine/memory/access.hpp"

namespace rung::vgpu {

/// Checks an access against earlier ones, and records it. Blocks run concurrently: if two accesses
/// race within the few nanoseconds for which a processor's store buffer holds a write, each may
/// miss the other. A kernel that races only once, at a single word, may escape detection.
void observe_global_order(Block& block, Warp& warp, const MemoryOp& op, Shape& shape,
                          const Place& place, AccessKind kind);

/// membar.gl, fence.acq_rel.gpu and stronger (happens_before/block_releases.hpp).
void observe_fence(Warp& warp);

/// Release by a write that is an atomic, or volatile, relaxed or stronger, and acquire by such a
/// read. Call release_by() before the access and acquire_by() after it: blocks run concurrently,
/// and a reader of the new value must find the release.
void release_by(Warp& warp, const MemoryOp& op, Shape& shape, const Place& place);
void acquire_by(Warp& warp, const MemoryOp& op, Shape& shape, const Place& place);

}  // namespace rung::vgpu
