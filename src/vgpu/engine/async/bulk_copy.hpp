#pragma once
// cp.async.bulk: copies of many bytes, or of a box of a tensor, between global and shared memory
// (PTX ISA, 9.7.9.25, "Data movement and conversion instructions: asynchronous copy").

#include "vgpu/model/instr.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

/// Instr::imm points at a BulkCopyOp (model/async_ops.hpp).
void run_bulk_copy(Warp& warp, const Instr& instr);

// Commits copies out of shared memory as a group.
void commit_bulk_group(Warp& warp, const Instr& instr);
/// Waits until at most Instr::imm groups are not complete.
void wait_bulk_groups(Warp& warp, const Instr& instr);
/// .read: until at most so many have not read their source.
void wait_bulk_reads(Warp& warp, const Instr& instr);

/// Executes the warp's copies out of shared memory up to that number.
void finish_stores(Warp& warp, std::uint32_t number);

}  // namespace rung::vgpu
