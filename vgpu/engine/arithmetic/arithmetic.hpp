#pragma once
// Handlers of instructions that only access registers.

#include <optional>

#include "vgpu/model/instr.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Returns the specification of an instruction, or nullopt for unknown opcodes and modifiers.
/// Operands only select among the forms of a mnemonic. If their number is right, OpSpec::imm holds
/// the constant and the negations. 8-bit operands are listed as 16-bit ones, because their rows are
/// 16 bits wide. The predicate at `carry_row` holds the carries of .cc instructions.
std::optional<OpSpec> arithmetic(const ptx::Instruction& instruction);

/// True if the instruction's predicate sources may be negated (!p).
bool takes_negation(const ptx::Instruction& instruction);

/// Offset in a warp's frame of the condition code register CC.CF, one bit per lane.
inline constexpr std::uint32_t carry_row = 0;

}  // namespace rung::vgpu
