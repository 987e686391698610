#pragma once
// Handlers of every instruction that works on registers alone.

#include <optional>

#include "vgpu/model/instr.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// How to run an instruction; nothing if it is not one of those here, or has a modifier that is not
/// known. Operands only tell forms of one mnemonic apart; where there are as many as there have to
/// be, the constant and the negations among them are in OpSpec::imm. 8-bit operands are told as
/// 16-bit ones: they lie in 16-bit rows. Carries of .cc instructions are kept in the predicate at
/// `carry_row`.
std::optional<OpSpec> arithmetic(const ptx::Instruction& instruction);

/// Whether !p may stand for a predicate among the instruction's sources.
bool takes_negation(const ptx::Instruction& instruction);

/// Where in a warp's frame the condition code register CC.CF lies, a bit for each lane.
inline constexpr std::uint32_t carry_row = 0;

}  // namespace rung::vgpu
