#pragma once
// The only code that checks operands against operand_rules.hpp. All later code relies on the
// number, kinds and widths of operands stated by the rules.

#include <string_view>

#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Checks the number, kinds, widths and ranges of the operands of every instruction except `call`,
/// and that guards are predicates. `name`: the module's name. Throws std::invalid_argument,
/// "NAME:LINE: …".
void check_operands(const ptx::Module& module, const ptx::Function& function,
                    std::string_view name);

/// Checks the form of a call: [(results),] target [, (arguments)] [, prototype], with registers,
/// constants and `.param` variables in parentheses. Throws std::invalid_argument, "NAME:LINE: …".
void check_call(const ptx::Module& module, const ptx::Function& function,
                const ptx::Instruction& instruction, std::string_view name);

}  // namespace rung::vgpu
