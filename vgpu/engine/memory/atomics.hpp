#pragma once
// atom and red.

#include <optional>

#include "vgpu/model/instr.hpp"
#include "vgpu/model/kernel.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Parses the operation of an atomic; nullopt if it is unknown.
std::optional<AtomicAction> atomic_action(const ptx::Instruction& instruction);

/// Rows: destination, operand and, for cas, the new value. Instr::imm points at the MemoryOp.
void run_atomic(Warp& warp, const Instr& instr);

}  // namespace rung::vgpu
