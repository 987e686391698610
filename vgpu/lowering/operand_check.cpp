#include "vgpu/lowering/operand_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "vgpu/lowering/operand_rules.hpp"
#include "vgpu/program/instruction_error.hpp"
#include "vgpu/program/rows.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Operand;
using ptx::Type;
using Kind = OperandRule::Kind;
using Given = Operand::Kind;

int width_of(Type type) { return type == Type::pred ? 1 : 8 * row_bytes(type); }

bool is_scalar_source(Given kind) {
  return kind == Given::reg || kind == Given::immediate || kind == Given::special ||
         kind == Given::symbol;
}

const char* expected(Kind kind) {
  switch (kind) {
    case Kind::destination: return "a register to write to";
    case Kind::pair: return "two registers p|q to write to";
    case Kind::source: return "a register or a constant";
    case Kind::reg: return "a register";
    case Kind::constant: return "an integer constant";
    case Kind::address: return "an address in brackets";
    case Kind::tensor: return "[map, {coordinates}]";
    case Kind::label: return "a label";
  }
  return "";
}

/// Checks the operands of one instruction.
class OperandCheck {
 public:
  OperandCheck(const ptx::Module& module, const Function& function, const Instruction& instruction,
               std::string_view name)
      : module_(module), function_(function), instruction_(instruction), name_(name) {}

  void run() {
    if (instruction_.guard >= 0 && type_of(instruction_.guard) != Type::pred) {
      fail(fmt::format("has the guard {}, which is no predicate",
                       register_name(instruction_.guard)));
    }
    const auto found = operand_rules(instruction_);
    if (!found) fail("is not known to the virtual GPU");
    const auto& rules = found->rules;
    const std::size_t given = instruction_.operands.size();
    if (given < found->required || given > rules.size()) {
      fail(fmt::format("has {} operand{}: it takes {}", given, given == 1 ? "" : "s",
                       found->required == rules.size()
                           ? fmt::to_string(rules.size())
                           : fmt::format("{} to {}", found->required, rules.size())));
    }
    for (at_ = 0; at_ < given; ++at_) check(rules[at_], instruction_.operands[at_]);
  }

 private:
  [[noreturn]] void fail(std::string_view message) const {
    fail_at(module_, name_, instruction_, message);
  }
  [[noreturn]] void refuse(std::string_view message) const {
    fail(fmt::format("operand {}: {}", at_ + 1, message));
  }
  void require(bool holds, const OperandRule& rule) const {
    if (!holds) refuse(fmt::format("expected {}", expected(rule.kind)));
  }

  const ptx::Register& register_of(int reg) const {
    return function_.registers[static_cast<std::size_t>(reg)];
  }
  Type type_of(int reg) const { return register_of(reg).type; }
  const std::string& register_name(int reg) const { return register_of(reg).name; }

  void check(const OperandRule& rule, const Operand& operand) const {
    switch (rule.kind) {
      case Kind::destination:
      case Kind::source:
      case Kind::reg: return check_values(rule, operand);
      case Kind::pair: return check_pair(rule, operand);
      case Kind::constant: return check_constant(rule, operand);
      case Kind::address: return check_address(rule, operand);
      case Kind::tensor: return check_tensor(rule, operand);
      case Kind::label: return require(operand.kind == Given::label, rule);
    }
  }

  /// Checks one value, or a vector in braces of the length in the rule.
  void check_values(const OperandRule& rule, const Operand& operand) const {
    const bool in_braces = operand.kind == Given::vector;
    if (rule.elements == 1 && !(in_braces && rule.is_fragment)) return check_value(rule, operand);
    if (!in_braces || operand.elements.size() != static_cast<std::size_t>(rule.elements)) {
      refuse(fmt::format("expected {} value{} in braces", rule.elements,
                         rule.elements == 1 ? "" : "s"));
    }
    for (const Operand& element : operand.elements) check_value(rule, element);
    check_equal_widths(operand);
  }

  void check_value(const OperandRule& rule, const Operand& operand) const {
    switch (rule.kind) {
      case Kind::destination:
        require(operand.kind == Given::reg || operand.kind == Given::sink, rule);
        break;
      case Kind::source: require(is_scalar_source(operand.kind), rule); break;
      default: require(operand.kind == Given::reg, rule);
    }
    if (operand.negated && !rule.may_be_negated) refuse("cannot be negated");
    if (operand.kind == Given::reg) check_width(rule, rule.type, operand.reg);
  }

  void check_width(const OperandRule& rule, Type type, int reg) const {
    if (type == Type::none) return;
    const int wanted = row_bytes(type), is = row_bytes(type_of(reg));
    const bool widens = rule.may_be_wider && type != Type::pred && is > wanted && is <= 8;
    if (is == wanted || widens) return;
    refuse(fmt::format("register {} has {} bit{}, .{} takes {}", register_name(reg),
                       width_of(type_of(reg)), width_of(type_of(reg)) == 1 ? "" : "s",
                       ptx::name(type), width_of(type)));
  }

  void check_equal_widths(const Operand& operand) const {
    int bytes = -1;
    for (const Operand& element : operand.elements) {
      if (element.kind != Given::reg) continue;
      const int is = row_bytes(type_of(element.reg));
      if (bytes >= 0 && is != bytes) refuse("the registers in braces differ in width");
      bytes = is;
    }
  }

  void check_pair(const OperandRule& rule, const Operand& operand) const {
    require(operand.kind == Given::pair, rule);
    for (std::size_t i = 0; i < 2; ++i) {
      const Operand& element = operand.elements[i];
      if (element.negated) refuse("cannot be negated");
      if (element.kind == Given::reg) {
        check_width(rule, i == 0 ? rule.type : rule.second, element.reg);
      }
    }
  }

  void check_constant(const OperandRule& rule, const Operand& operand) const {
    require(operand.kind == Given::immediate && !operand.is_float, rule);
    const auto value = static_cast<std::int64_t>(operand.bits);
    if (value >= rule.least && value <= rule.most) return;
    refuse(rule.least == rule.most
               ? fmt::format("{} is not {}", value, rule.least)
               : fmt::format("{} is not from {} to {}", value, rule.least, rule.most));
  }

  void check_base(const OperandRule& rule, const Operand& operand) const {
    require(operand.kind == Given::address, rule);
    if (operand.reg >= 0 && row_bytes(type_of(operand.reg)) < 4) {
      refuse(fmt::format("register {} has {} bit{}, an address has 32 or 64",
                         register_name(operand.reg), width_of(type_of(operand.reg)),
                         width_of(type_of(operand.reg)) == 1 ? "" : "s"));
    }
  }

  void check_address(const OperandRule& rule, const Operand& operand) const {
    check_base(rule, operand);
    require(operand.elements.empty(), rule);
  }

  void check_tensor(const OperandRule& rule, const Operand& operand) const {
    check_base(rule, operand);
    require(operand.elements.size() == 2 && operand.elements[1].kind == Given::vector, rule);
    const auto& coordinates = operand.elements[1].elements;
    if (coordinates.size() != static_cast<std::size_t>(rule.elements)) {
      refuse(fmt::format("has {} coordinates of {}", coordinates.size(), rule.elements));
    }
    OperandRule one;
    one.type = Type::s32;
    for (const Operand& coordinate : coordinates) check_value(one, coordinate);
  }

  const ptx::Module& module_;
  const Function& function_;
  const Instruction& instruction_;
  std::string_view name_;
  std::size_t at_ = 0;  // index of the current operand
};

bool is_parameter(const Function& function, const std::string& name) {
  const auto has = [&](const std::vector<ptx::Variable>& variables) {
    return std::any_of(variables.begin(), variables.end(), [&](const ptx::Variable& variable) {
      return variable.name == name && variable.space == ptx::Space::param;
    });
  };
  return has(function.variables) || has(function.parameters) || has(function.results);
}

}  // namespace

void check_call(const ptx::Module& module, const Function& function, const Instruction& instruction,
                std::string_view name) {
  const auto& operands = instruction.operands;
  const auto is = [&](std::size_t at, Given kind) {
    return at < operands.size() && operands[at].kind == kind;
  };
  const auto fail = [&](std::string_view message) { fail_at(module, name, instruction, message); };
  const std::size_t target = is(0, Given::tuple) ? 1 : 0;
  if (!is(target, Given::symbol) && !is(target, Given::label) && !is(target, Given::reg)) {
    fail("names no function");
  }
  const std::size_t prototype = target + (is(target + 1, Given::tuple) ? 2 : 1);
  const bool ends = operands.size() == prototype + (is(prototype, Given::label) ? 1 : 0);
  if (!ends) fail("expected (results), function, (arguments)");
  for (const Operand& operand : operands) {
    for (const Operand& element : operand.elements) {
      const bool is_variable = element.kind == Given::symbol;
      const bool is_result = &operand == operands.data() && target == 1;
      const bool fits = is_variable ? is_parameter(function, element.name) && element.offset == 0
                        : is_result
                            ? element.kind == Given::reg || element.kind == Given::sink
                            : element.kind == Given::reg || element.kind == Given::immediate;
      if (!fits || element.negated) {
        fail("passes what is neither a register nor a constant nor a .param variable");
      }
    }
  }
}

void check_operands(const ptx::Module& module, const Function& function, std::string_view name) {
  for (const Instruction& instruction : function.body) {
    if (instruction.opcode == ptx::Opcode::call) continue;  // checked by check_call()
    OperandCheck(module, function, instruction, name).run();
  }
}

}  // namespace rung::vgpu
