#pragma once
// The only place that checks operand lists against operand_rules.hpp. All later code relies on the
// number, kinds and widths of operands that the rules state.

#include <string_view>

#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Checks the number, kinds, widths and ranges of the operands of every instruction but `call`, and
/// that guards are predicates. `name` is the module's. Throws std::invalid_argument, "NAME:LINE:
/// …".
void check_operands(const ptx::Module& module, const ptx::Function& function,
                    std::string_view name);

/// Checks the form of a call: [(results),] target [, (arguments)] [, prototype], with registers,
/// constants and `.param` variables between parentheses. Throws as above.
void check_call(const ptx::Module& module, const ptx::Function& function,
                const ptx::Instruction& instruction, std::string_view name);

}  // namespace rung::vgpu
