#pragma once
// What accesses cost: sectors of global memory, wavefronts of shared memory. Of global memory also
// whether what is read was ever written.

#include "vgpu/engine/memory/access.hpp"

namespace rung::vgpu {

/// Counts an access to global memory, tells the watcher and, unless it is observed where its value
/// is used (MemoryOp::deferred), checks it.
void observe_global(Block& block, Warp& warp, const MemoryOp& op, Shape& shape, const Place& place,
                    AccessKind kind);
/// Whether what is accessed was written, and in order.
void check_global(Block& block, Warp& warp, const MemoryOp& op, Shape& shape, const Place& place,
                  AccessKind kind);
void count_shared(Block& block, const MemoryOp& op, Shape& shape, AccessKind kind);

}  // namespace rung::vgpu
