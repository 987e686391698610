#pragma once
// Which operands each instruction takes.

#include <cstdint>
#include <optional>
#include <vector>

#include "vgpu/model/instr.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// What may stand in one place of an operand list.
struct OperandRule {
  enum class Kind : std::uint8_t {
    destination,  // a register, or '_'
    pair,         // p|q: two destinations, of `type` and `second`
    source,       // a register, a constant, a special register or the address of a variable
    reg,          // a register
    constant,     // an integer from `least` to `most`
    address,      // [register or variable + offset]
    tensor,       // [address, {`elements` coordinates}]
    label,
  };
  Kind kind = Kind::source;
  ptx::Type type = ptx::Type::none;    // of a register or coordinate: none means any
  ptx::Type second = ptx::Type::none;  // of a pair's second register
  int elements = 1;                    // a vector of so many, unless 1
  bool is_fragment = false;            // 1 register of a matrix may be a vector of 1 too
  bool may_be_wider = false;           // registers, all of one width, may be wider than `type`
  bool may_be_negated = false;
  std::int64_t least = 0, most = 0;
};

struct OperandRules {
  std::vector<OperandRule> rules;
  std::size_t required = 0;  // the rules behind those are of operands that may be left out
};

/// Nothing for an instruction that the virtual GPU does not know. Not for `call`. Looks at operands
/// only to tell an instruction's forms apart.
std::optional<OperandRules> operand_rules(const ptx::Instruction& instruction);

/// How a register-to-register instruction is run, whatever group of the engine has it. The operands
/// have to follow the rules above. Nothing if the virtual GPU does not know the instruction.
std::optional<OpSpec> register_operation(const ptx::Instruction& instruction);

}  // namespace rung::vgpu
