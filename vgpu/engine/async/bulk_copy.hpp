#pragma once
// cp.async.bulk: copies of many bytes, or of a tensor box, between global and shared memory (PTX
// ISA, 9.7.9.25, "Data movement and conversion instructions: asynchronous copy").

#include "vgpu/model/instr.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

/// Instr::imm points at a BulkCopyOp (model/async_ops.hpp).
void run_bulk_copy(Warp& warp, const Instr& instr);

// clusterlaunchcontrol.query_cancel: whether a response, in row 1, names a cluster, and coordinate Instr::imm of its
// first block (PTX ISA, 9.7.13.18).
void query_canceled(Warp& warp, const Instr& instr);
/// Copies 64 bits: half of a register of 128 bits.
void move_half(Warp& warp, const Instr& instr);
void query_first_block(Warp& warp, const Instr& instr);

// Commits the copies out of shared memory as a group.
void commit_bulk_group(Warp& warp, const Instr& instr);
/// Waits until at most Instr::imm groups are incomplete.
void wait_bulk_groups(Warp& warp, const Instr& instr);
/// .read: waits until at most Instr::imm groups have not read their source.
void wait_bulk_reads(Warp& warp, const Instr& instr);

/// Executes the warp's copies out of shared memory up to the one with this number.
void finish_stores(Warp& warp, std::uint32_t number);

}  // namespace rung::vgpu
