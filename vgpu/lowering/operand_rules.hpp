#pragma once
// The operands of each instruction.

#include <cstdint>
#include <optional>
#include <vector>

#include "vgpu/model/instr.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// The rule for one operand.
struct OperandRule {
  enum class Kind : std::uint8_t {
    destination,  // a register, or '_'
    pair,         // p|q: two destinations, of `type` and `second`
    source,       // a register, a constant, a special register or the address of a variable
    reg,          // a register
    constant,     // an integer in [least, most]
    address,      // [register or variable + offset]
    tensor,       // [address, {`elements` coordinates}]
    label,
  };
  Kind kind = Kind::source;
  ptx::Type type = ptx::Type::none;    // of a register or coordinate; none: any type
  ptx::Type second = ptx::Type::none;  // of a pair's second register
  int elements = 1;                    // length of a vector, or 1
  bool is_fragment = false;   // a single register may also be written as a vector of length 1
  bool may_be_wider = false;  // registers, all of the same width, may be wider than `type`
  bool may_be_negated = false;
  std::int64_t least = 0, most = 0;
};

struct OperandRules {
  std::vector<OperandRule> rules;
  std::size_t required = 0;  // number of required operands; the others are optional
};

/// The operand rules of an instruction; nullopt if it is unknown. Not for `call`. Inspects operands
/// only to distinguish forms of an instruction.
std::optional<OperandRules> operand_rules(const ptx::Instruction& instruction);

/// The specification of a register-to-register instruction of any group of the engine; nullopt if
/// it is unknown. Its operands must follow the rules above.
std::optional<OpSpec> register_operation(const ptx::Instruction& instruction);

}  // namespace rung::vgpu
