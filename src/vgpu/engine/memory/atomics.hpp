#pragma once
// atom and red.

#include <optional>

#include "vgpu/model/instr.hpp"
#include "vgpu/model/kernel.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// What an atomic does, from its mnemonic; nothing if it is not known. Also fills in bytes and
/// relaxed.
std::optional<AtomicAction> atomic_action(const ptx::Instruction& instruction);

/// Rows: destination, operand, for cas also the new value. Instr::imm points at the MemoryOp.
void run_atomic(Warp& warp, const Instr& instr);

}  // namespace rung::vgpu
