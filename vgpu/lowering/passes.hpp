#pragma once
// The passes over the instructions of a basic block after each has been lowered.

#include <cstdint>
#include <span>
#include <vector>

#include "vgpu/model/instr.hpp"
#include "vgpu/model/kernel.hpp"
#include "vgpu/model/native_operation.hpp"
#include "vgpu/program/cfg.hpp"
#include "vgpu/program/register_set.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// The operation that the translator emits for the instruction, if its operands have the width of its types.
Native native_operation(const ptx::Instruction& instruction);

/// Fills in Instr::last_use of a basic block's instructions, `code`. `live_out`: the registers
/// that other blocks read. `rows`: the row of each register, which several may share.
void find_last_uses(std::span<Instr> code, const ptx::Function& function, const CfgBlock& block,
                    const RegisterSet& live_out, const std::vector<std::uint32_t>& rows);

/// Forms superinstructions in a basic block, whose code must be the last of the kernel's, with
/// MemoryOp::issued already set. `rows`: of registers, by their index.
void form_superinstructions(Kernel& kernel, BasicBlock& block, const ptx::Function& function,
                            const std::vector<std::uint32_t>& rows);

}  // namespace rung::vgpu
