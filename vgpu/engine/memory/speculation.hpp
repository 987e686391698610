#pragma once
// Deferred checks: a load is checked where its value is used (program/speculation.hpp). Instr::imm
// points at the load's MemoryOp.

#include "vgpu/model/instr.hpp"

namespace rung::vgpu {

/// Copies the addresses from row 1 to row 0, where the MemoryOp expects them.
void keep_addresses(Warp& warp, const Instr& instr);

/// Checks the load for the lanes for which the predicate in row 0 is true, or false.
void observe_if(Warp& warp, const Instr& instr);
void observe_unless(Warp& warp, const Instr& instr);

}  // namespace rung::vgpu
