#pragma once
// Accesses to the shared memory of any block of the cluster (PTX ISA, 5.1.7): ld and st of
// .shared::cluster. Atomics and generic addresses are in engine/memory/.

#include "vgpu/engine/memory/access.hpp"
#include "vgpu/engine/observers.hpp"
#include "vgpu/model/instr.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

/// Instr::imm points at a ClusterAccessOp (model/async_ops.hpp).
void run_cluster_load(Warp& warp, const Instr& instr);
void run_cluster_store(Warp& warp, const Instr& instr);

/// True if an address of this operation, including its offset, names a block of the cluster, as
/// addresses from mapa do.
bool names_block(const MemoryOp& op, std::uint64_t address);

/// Checks and records a thread's access to [offset, offset + bytes) of a block's shared memory.
/// Accesses to the thread's own block are treated like those to any other.
void observe_in_cluster(Block& block, Warp& warp, int lane, std::uint32_t site, AccessKind kind,
                        AsyncRange range);

}  // namespace rung::vgpu
