#pragma once
// Counts sectors of global accesses and wavefronts of shared accesses, and checks that global
// memory is written before it is read.

#include "vgpu/engine/memory/access.hpp"

namespace rung::vgpu {

/// Counts an access to global memory, calls the watcher, and checks the access, unless the check is
/// deferred to where its value is used (MemoryOp::deferred).
void observe_global(Block& block, Warp& warp, const MemoryOp& op, Shape& shape, const Place& place,
                    AccessKind kind);
/// Reports races and uninitialised reads.
void check_global(Block& block, Warp& warp, const MemoryOp& op, Shape& shape, const Place& place,
                  AccessKind kind);
void count_shared(Block& block, const MemoryOp& op, Shape& shape, AccessKind kind);

}  // namespace rung::vgpu
