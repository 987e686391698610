#pragma once
// Invariants of every Module that the parser returns, whatever the text.

#include <string>
#include <unordered_set>

#include "vgpu/ptx/module.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu::ptx {

/// Finds the first violated invariant of `module`; an empty string if all hold.
class Invariants {
 public:
  explicit Invariants(const Module& module) : module_(module) {}

  std::string first_violation() {
    for (const Variable& variable : module_.variables) check(variable);
    std::unordered_set<std::string> names;
    for (const Function& function : module_.functions) {
      require(names.insert(function.name).second, "two functions of one name");
      check(function);
    }
    return violation_;
  }

 private:
  void require(bool holds, const char* what) {
    if (!holds && violation_.empty()) violation_ = what;
  }

  void check(const Variable& variable) {
    require(!variable.name.empty(), "variable without a name");
    require(variable.type != Type::none, "variable without a type");
    require(variable.count >= 0 && variable.bytes() >= 0, "negative size");
    require(variable.align > 0 && (variable.align & (variable.align - 1)) == 0, "alignment");
    const auto size = static_cast<std::size_t>(variable.bytes());
    require(variable.initial.empty() || variable.initial.size() == size, "size of initialiser");
    for (const Variable::Fixup& fixup : variable.fixups) {
      const bool fits = fixup.at + static_cast<std::size_t>(fixup.bytes) <= variable.initial.size();
      require(fits && fixup.shift >= 0 && fixup.shift < 64, "address in an initialiser");
    }
  }

  void check(const Function& function) {
    require(!function.name.empty(), "function without a name");
    require(!function.external || function.body.empty(), "declaration with a body");
    std::unordered_set<std::string> variables, labels;
    const auto check_all = [&](const std::vector<Variable>& declared) {
      for (const Variable& variable : declared) {
        check(variable);
        require(variable.space == Space::reg || variables.insert(variable.name).second,
                "two variables of one name");
      }
    };
    check_all(function.parameters);
    check_all(function.results);
    check_all(function.variables);
    for (const Label& label : function.labels) {
      require(label.at <= function.body.size(), "label past the end");
      require(labels.insert(label.name).second, "two labels of one name");
    }
    for (const Function::Targets& targets : function.branch_targets) {
      for (const std::string& name : targets.labels) {
        require(labels.contains(name), "target that is no label");
      }
    }
    for (const Instruction& instruction : function.body) check(instruction, function, labels);
  }

  void check(const Instruction& instruction, const Function& function,
             const std::unordered_set<std::string>& labels) {
    require(!instruction.word().empty() && instruction.line > 0, "opcode or line");
    require(instruction.guard < registers(function), "guard");
    const int file = instruction.source.file;
    require(file >= 0 && static_cast<std::size_t>(file) < module_.files.size(), "file");
    for (const Operand& operand : instruction.operands) {
      check(operand, function);
      const bool is_target =
          instruction.opcode == Opcode::bra && operand.kind == Operand::Kind::label;
      require(!is_target || labels.contains(operand.name), "branch to no label");
    }
  }

  void check(const Operand& operand, const Function& function) {
    require(operand.reg >= -1 && operand.reg < registers(function), "register");
    require(operand.kind != Operand::Kind::reg || operand.reg >= 0, "operand without its register");
    require(operand.kind != Operand::Kind::pair || operand.elements.size() == 2, "pair");
    require(operand.kind != Operand::Kind::vector || !operand.elements.empty(), "empty vector");
    for (const Operand& element : operand.elements) check(element, function);
  }

  static int registers(const Function& function) {
    return static_cast<int>(function.registers.size());
  }

  const Module& module_;
  std::string violation_;
};

}  // namespace rung::vgpu::ptx
