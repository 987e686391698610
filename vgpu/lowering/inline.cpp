#include "vgpu/lowering/inline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/lowering/call_graph.hpp"
#include "vgpu/lowering/call_stack.hpp"
#include "vgpu/lowering/operand_check.hpp"
#include "vgpu/program/call_parameters.hpp"
#include "vgpu/program/cfg.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

using ptx::Instruction;
using ptx::Operand;

bool is_variable(const Operand& operand) { return operand.kind == Operand::Kind::symbol; }

Operand named(Operand::Kind kind, std::string name) {
  Operand operand;
  operand.kind = kind;
  operand.name = std::move(name);
  return operand;
}

/// An argument or result of a call: the actual operand, and the callee's formal parameter.
struct Passed {
  Operand actual;  // a register or constant of the result, or one of its variables
  ptx::Variable formal;
  int formal_register;  // in the result; -1: the formal parameter is in memory
};

class Inliner {
 public:
  Inliner(const ptx::Module& module, const CallGraph& graph, std::string_view name,
          std::size_t limit)
      : module_(module), graph_(graph), name_(name), limit_(limit) {}

  /// Returns the function with all its calls inlined, except those that need a call stack.
  ptx::Function run(const ptx::Function& function) {
    result_ = function;
    result_.body.clear();
    result_.labels.clear();
    Names names;
    if (!function.entry) {
      result_.variables.clear();
      result_.branch_targets.clear();
      prefix_ = function.name + "$";
      declare(function, prefix_, names);
    }
    stack_.push_back(&function);
    append(function, names, 0, {});
    return std::move(result_);
  }

  /// The functions that it calls through the call stack.
  const std::vector<const ptx::Function*>& called() const { return called_; }

 private:
  // maps the callee's names to those of the result
  using Names = std::map<std::string, std::string>;

  [[noreturn]] void fail(const Instruction& instruction, const std::string& message) const {
    throw std::invalid_argument(fmt::format("{}:{}: {}", name_, instruction.line, message));
  }

  /// Appends the body of `function`, with registers renumbered from `first_register` and names
  /// replaced. If `end` is not empty, its returns branch to that label.
  void append(const ptx::Function& function, const Names& names, int first_register,
              const std::string& end) {
    std::multimap<std::size_t, std::string> labels;
    for (const ptx::Label& label : function.labels) labels.emplace(label.at, label.name);
    for (std::size_t i = 0; i <= function.body.size(); ++i) {
      const auto [here, behind] = labels.equal_range(i);
      for (auto label = here; label != behind; ++label) place(renamed(label->second, names));
      if (i == function.body.size()) break;
      const Instruction& instruction = function.body[i];
      const ptx::Function* callee = callee_of(instruction);
      if (callee != nullptr) {
        call(moved(instruction, names, first_register), *callee);
      } else if (function.entry) {
        emit(instruction);
      } else if (instruction.opcode != ptx::Opcode::ret || end.empty()) {
        emit(with_local_parameters(moved(instruction, names, first_register)));
      } else if (i + 1 < function.body.size() || instruction.guard >= 0) {
        branch(moved(instruction, names, first_register), end);
      }
    }
    if (!end.empty()) place(end);
  }

  void place(std::string label) {
    result_.labels.push_back({std::move(label), result_.body.size()});
  }

  void emit(Instruction instruction) {
    if (result_.body.size() == limit_) {
      fail(instruction, fmt::format("{} has more than {} instructions with all that it calls",
                                    result_.name, limit_));
    }
    result_.body.push_back(std::move(instruction));
  }

  /// Appends a branch that replaces `instruction`, with the same guard.
  void branch(Instruction instruction, const std::string& label) {
    instruction.opcode = ptx::Opcode::bra;
    instruction.modifiers.clear();
    instruction.operands = {named(Operand::Kind::label, label)};
    emit(std::move(instruction));
  }

  static std::string renamed(const std::string& name, const Names& names) {
    const auto found = names.find(name);
    return found == names.end() ? name : found->second;
  }

  static void move(Operand& operand, const Names& names, int first_register) {
    if (operand.reg >= 0) operand.reg += first_register;
    if (operand.kind != Operand::Kind::special) operand.name = renamed(operand.name, names);
    for (Operand& element : operand.elements) move(element, names, first_register);
  }

  static Instruction moved(Instruction instruction, const Names& names, int first_register) {
    if (instruction.guard >= 0) instruction.guard += first_register;
    for (Operand& operand : instruction.operands) move(operand, names, first_register);
    return instruction;
  }

  /// Parameters of functions are in local memory, even if they are read through a register.
  static Instruction with_local_parameters(Instruction instruction) {
    const bool by_register = std::any_of(
        instruction.operands.begin(), instruction.operands.end(), [](const Operand& operand) {
          return operand.kind == Operand::Kind::address && operand.reg >= 0;
        });
    if (!by_register || !instruction.is(ptx::Opcode::ld, ptx::Opcode::st)) return instruction;
    for (std::string& modifier : instruction.modifiers) {
      if (modifier == "param" || modifier == "param::func") modifier = "local";
    }
    return instruction;
  }

  /// The called function if the instruction is a call to inline; otherwise null.
  const ptx::Function* callee_of(const Instruction& instruction) {
    if (instruction.opcode != ptx::Opcode::call) return nullptr;
    check_call(module_, *stack_.back(), instruction, name_);
    const Operand& target = target_of(instruction);
    if (target.reg >= 0) {
      const Signature signature = signature_of(*stack_.back(), instruction);
      for (const ptx::Function* function : graph_.reachable_by_pointer(signature)) {
        called_.push_back(function);
      }
      return nullptr;
    }
    const ptx::Function* callee = module_.find(target.name);
    if (callee == nullptr || callee->external) return nullptr;
    if (!graph_.needs_stack(*callee)) return callee;
    called_.push_back(callee);
    return nullptr;
  }

  /// Inlines a call. `instruction` has been rewritten for the result.
  void call(const Instruction& instruction, const ptx::Function& callee) {
    const std::string prefix = fmt::format("{}{}${}$", prefix_, callee.name, calls_++);
    const int first_register = static_cast<int>(result_.registers.size());
    result_.registers.insert(result_.registers.end(), callee.registers.begin(),
                             callee.registers.end());
    Names names;
    declare(callee, prefix, names);
    std::vector<Passed> arguments, results;
    bool before_name = true;
    for (const Operand& operand : instruction.operands) {
      if (operand.kind != Operand::Kind::tuple) {
        before_name = false;
      } else if (before_name) {
        results = bind(instruction, operand, callee, callee.results, first_register);
      } else {
        arguments = bind(instruction, operand, callee, callee.parameters, first_register);
      }
    }

    const std::string after = prefix + "after";
    if (instruction.guard >= 0) {
      Instruction skip = instruction;
      skip.guard_negated = !skip.guard_negated;
      branch(std::move(skip), after);
    }
    for (const Passed& passed : arguments) copy_in(instruction, passed, prefix, names);
    for (const Passed& passed : results) bind_result(passed, prefix, names);
    stack_.push_back(&callee);
    append(callee, names, first_register, prefix + "end");
    stack_.pop_back();
    for (const Passed& passed : results) copy_out(instruction, passed, names);
    if (instruction.guard >= 0) place(after);
  }

  /// Chooses names in the result for the declarations of the callee's body.
  void declare(const ptx::Function& callee, const std::string& prefix, Names& names) {
    for (const ptx::Variable& variable : callee.variables) {
      // Each call has its own variables, but a block has only one instance of each shared array.
      const bool is_static = variable.space == ptx::Space::shared;
      ptx::Variable copy = variable;
      copy.name = (is_static ? callee.name + "$" : prefix) + variable.name;
      names[variable.name] = copy.name;
      const bool is_there =
          std::any_of(result_.variables.begin(), result_.variables.end(),
                      [&](const ptx::Variable& known) { return known.name == copy.name; });
      if (!is_there) result_.variables.push_back(std::move(copy));
    }
    for (const ptx::Label& label : callee.labels) names[label.name] = prefix + label.name;
    for (const ptx::Function::Targets& targets : callee.branch_targets) {
      ptx::Function::Targets copy = targets;
      names[targets.name] = copy.name = prefix + targets.name;
      for (std::string& label : copy.labels) label = prefix + label;
      result_.branch_targets.push_back(std::move(copy));
    }
  }

  std::vector<Passed> bind(const Instruction& instruction, const Operand& actual,
                           const ptx::Function& callee, const std::vector<ptx::Variable>& formal,
                           int first_register) const {
    if (actual.elements.size() != formal.size()) {
      fail(instruction, fmt::format("passes {} values where {} has {}", actual.elements.size(),
                                    callee.name, formal.size()));
    }
    std::vector<Passed> passed;
    for (std::size_t i = 0; i < formal.size(); ++i) {
      int reg = -1;
      if (formal[i].space == ptx::Space::reg) {
        const auto found =
            std::find_if(callee.registers.begin(), callee.registers.end(),
                         [&](const ptx::Register& known) { return known.name == formal[i].name; });
        reg = first_register + static_cast<int>(found - callee.registers.begin());
      }
      passed.push_back({actual.elements[i], formal[i], reg});
    }
    return passed;
  }

  /// The variable of the result that represents a parameter in memory: the one that is passed, or a
  /// new one if a register or constant is passed.
  std::string variable_of(const Passed& passed, const std::string& prefix) {
    if (is_variable(passed.actual)) return passed.actual.name;
    ptx::Variable variable = passed.formal;
    variable.space = ptx::Space::param;
    variable.name = prefix + passed.formal.name;
    result_.variables.push_back(variable);
    return variable.name;
  }

  void copy_in(const Instruction& call, const Passed& passed, const std::string& prefix,
               Names& names) {
    if (passed.formal_register >= 0) {
      copy(call, passed.formal, register_operand(passed.formal_register), passed.actual);
      return;
    }
    const std::string variable = variable_of(passed, prefix);
    names[passed.formal.name] = variable;
    if (!is_variable(passed.actual)) {
      copy(call, passed.formal, named(Operand::Kind::symbol, variable), passed.actual);
    }
  }

  void bind_result(const Passed& passed, const std::string& prefix, Names& names) {
    if (passed.formal_register < 0) names[passed.formal.name] = variable_of(passed, prefix);
  }

  void copy_out(const Instruction& call, const Passed& passed, const Names& names) {
    if (passed.actual.kind == Operand::Kind::sink) return;
    if (passed.formal_register >= 0) {
      copy(call, passed.formal, passed.actual, register_operand(passed.formal_register));
    } else if (!is_variable(passed.actual)) {
      const std::string& variable = names.at(passed.formal.name);
      copy(call, passed.formal, passed.actual, named(Operand::Kind::symbol, variable));
    }
  }

  static Operand register_operand(int reg) {
    Operand operand;
    operand.kind = Operand::Kind::reg;
    operand.reg = reg;
    return operand;
  }

  /// Copies a value of the parameter's type between registers and `.param` variables.
  void copy(const Instruction& call, const ptx::Variable& formal, Operand to, Operand from) {
    Instruction copy;
    copy.line = call.line;
    copy.source = call.source;
    copy.opcode = is_variable(to)     ? ptx::Opcode::st
                  : is_variable(from) ? ptx::Opcode::ld
                                      : ptx::Opcode::mov;
    if (copy.opcode != ptx::Opcode::mov) copy.modifiers.push_back("param");
    copy.modifiers.push_back(ptx::name(formal.type));
    for (Operand* operand : {&to, &from}) {
      if (is_variable(*operand)) operand->kind = Operand::Kind::address;
    }
    copy.operands = {std::move(to), std::move(from)};
    emit(std::move(copy));
  }

  const ptx::Module& module_;
  const CallGraph& graph_;
  std::string_view name_;
  std::size_t limit_;
  ptx::Function result_;
  std::string prefix_;  // of all generated names; empty for the entry
  std::vector<const ptx::Function*> stack_, called_;
  int calls_ = 0;
};

/// Appends `ret` to a body that can run past its end.
void end_with_return(ptx::Function& function) {
  std::vector<Instruction>& body = function.body;
  const bool falls_off =
      body.empty() || !ends_block(body.back()) || body.back().guard >= 0 ||
      std::any_of(function.labels.begin(), function.labels.end(),
                  [&](const ptx::Label& label) { return label.at == body.size(); });
  if (!falls_off) return;
  Instruction end;
  end.opcode = ptx::Opcode::ret;
  if (!body.empty()) {
    end.line = body.back().line;
    end.source = body.back().source;
  }
  body.push_back(std::move(end));
}

}  // namespace

ptx::Function inline_calls(const ptx::Module& module, const ptx::Function& entry,
                           std::string_view name, std::size_t limit) {
  const CallGraph graph(module, entry);
  std::vector<const ptx::Function*> wanted = {&entry};
  std::vector<ptx::Function> functions;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    Inliner inliner(module, graph, name, limit);
    ptx::Function function = inliner.run(*wanted[i]);
    check_operands(module, function, name);
    end_with_return(function);
    parameters_to_registers(function);
    functions.push_back(std::move(function));
    for (const ptx::Function* callee : inliner.called()) {
      if (std::find(wanted.begin(), wanted.end(), callee) == wanted.end()) wanted.push_back(callee);
    }
  }
  const bool has_calls = std::any_of(
      functions[0].body.begin(), functions[0].body.end(),
      [&](const Instruction& instruction) { return is_stack_call(module, instruction); });
  return has_calls ? link_by_call_stack(module, graph, std::move(functions))
                   : std::move(functions[0]);
}

}  // namespace rung::vgpu
