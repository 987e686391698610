#pragma once
// Handlers of instructions that only access registers.

#include <optional>

#include "vgpu/model/instr.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// The specification of an instruction; nothing for other instructions and unknown modifiers.
/// Operands only distinguish forms of one mnemonic. If their number is right, OpSpec::imm contains
/// the constant and the negations among them. 8-bit operands are listed as 16-bit ones, because
/// they have 16-bit rows. The predicate at `carry_row` holds the carries of .cc instructions.
std::optional<OpSpec> arithmetic(const ptx::Instruction& instruction);

/// Whether the instruction's predicate sources may be negated (!p).
bool takes_negation(const ptx::Instruction& instruction);

/// The offset in a warp's frame of the condition code register CC.CF, with one bit per lane.
inline constexpr std::uint32_t carry_row = 0;

}  // namespace rung::vgpu
