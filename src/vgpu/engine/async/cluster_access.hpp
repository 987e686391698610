#pragma once
// ld and st of .shared::cluster: shared memory of any block of the cluster (PTX ISA, 5.1.7).

#include "vgpu/model/instr.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

/// Instr::imm points at a ClusterAccessOp (model/async_ops.hpp).
void run_cluster_load(Warp& warp, const Instr& instr);
void run_cluster_store(Warp& warp, const Instr& instr);

}  // namespace rung::vgpu
