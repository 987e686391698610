#pragma once
// Checks of a load where its value is used (program/speculation.hpp). Instr::imm points at its
// MemoryOp.

#include "vgpu/model/instr.hpp"

namespace rung::vgpu {

/// Copies the addresses of row 1 to row 0, where the MemoryOp expects them.
void keep_addresses(Warp& warp, const Instr& instr);

/// Checks the load for the lanes for which the predicate in row 0 holds, or does not hold.
void observe_if(Warp& warp, const Instr& instr);
void observe_unless(Warp& warp, const Instr& instr);

}  // namespace rung::vgpu
