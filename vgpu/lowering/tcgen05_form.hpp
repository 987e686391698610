#pragma once
// Parses the mnemonics of tcgen05 (PTX ISA, 9.7.16).

#include <optional>

#include "vgpu/lowering/operand_rules.hpp"
#include "vgpu/model/tensor_memory_ops.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// The number in .cta_group; 0 without.
int tcgen05_blocks(const ptx::Instruction& instruction);

/// The shape of a tcgen05.ld or .st; nullopt for forms that do not exist. The split comes from an operand.
/// The reduction of a tcgen05.ld.red, of type none for other instructions; nullopt if the form does not exist.
std::optional<TensorReduction> tensor_reduction(const ptx::Instruction& instruction);
std::optional<TensorFragment> tensor_fragment(const ptx::Instruction& instruction);

/// The kind, group and scales of a tcgen05.mma.
std::optional<TensorMultiplyOp> tensor_multiply_form(const ptx::Instruction& instruction);

/// The shape of a tcgen05.cp.
std::optional<TensorCopyOp> tensor_copy_form(const ptx::Instruction& instruction);

std::optional<OperandRules> tcgen05_operands(const ptx::Instruction& instruction);

}  // namespace rung::vgpu
