#include "vgpu/lowering/call_graph.hpp"

#include <algorithm>

#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Operand;

std::int64_t bytes_of(const Function& function, const Operand& passed) {
  if (passed.kind == Operand::Kind::symbol) {
    for (const auto* variables : {&function.variables, &function.parameters, &function.results}) {
      for (const ptx::Variable& variable : *variables) {
        if (variable.name == passed.name) return variable.bytes();
      }
    }
  }
  if (passed.kind != Operand::Kind::reg) return 8;
  return ptx::size_of(function.registers[static_cast<std::size_t>(passed.reg)].type);
}

void add_name(const Operand& operand, std::set<std::string_view>& names) {
  if (operand.kind == Operand::Kind::symbol) names.insert(operand.name);
  for (const Operand& element : operand.elements) add_name(element, names);
}

std::vector<const Function*> functions_with_address(const ptx::Module& module) {
  std::set<std::string_view> names;
  for (const ptx::Variable& variable : module.variables) {
    for (const ptx::Variable::Fixup& fixup : variable.fixups) names.insert(fixup.symbol);
  }
  for (const Function& function : module.functions) {
    for (const Instruction& instruction : function.body) {
      if (instruction.opcode == ptx::Opcode::call) continue;
      for (const Operand& operand : instruction.operands) add_name(operand, names);
    }
  }
  std::vector<const Function*> found;
  for (const std::string_view name : names) {
    const Function* function = module.find(name);
    if (function != nullptr && !function->external && !function->entry) found.push_back(function);
  }
  std::sort(found.begin(), found.end());  // in textual order
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace

Signature signature_of(const Function& function) {
  Signature signature;
  for (const ptx::Variable& result : function.results) signature.results.push_back(result.bytes());
  for (const ptx::Variable& parameter : function.parameters) {
    signature.parameters.push_back(parameter.bytes());
  }
  return signature;
}

Signature signature_of(const Function& function, const Instruction& call) {
  Signature signature;
  bool before_name = true;
  for (const Operand& operand : call.operands) {
    if (operand.kind != Operand::Kind::tuple) {
      before_name = false;
      continue;
    }
    for (const Operand& passed : operand.elements) {
      (before_name ? signature.results : signature.parameters)
          .push_back(bytes_of(function, passed));
    }
  }
  return signature;
}

const Operand& target_of(const Instruction& call) {
  return *std::find_if(call.operands.begin(), call.operands.end(),
                       [](const Operand& operand) { return operand.kind != Operand::Kind::tuple; });
}

CallGraph::CallGraph(const ptx::Module& module, const Function& entry) : module_(module) {
  visit(entry);
  for (const Function* function : visited_) {
    if (calls_itself(*function)) on_stack_.insert(function);
  }
}

void CallGraph::visit(const Function& function) {
  if (!visited_.insert(&function).second) return;
  for (const Instruction& instruction : function.body) {
    if (instruction.opcode != ptx::Opcode::call || target_of(instruction).reg < 0) continue;
    if (address_taken_.empty()) address_taken_ = functions_with_address(module_);
    for (const Function* target : reachable_by_pointer(signature_of(function, instruction))) {
      on_stack_.insert(target);
      visit(*target);
    }
  }
  for (const Function* callee : direct_callees(function)) visit(*callee);
}

std::vector<const Function*> CallGraph::reachable_by_pointer(const Signature& signature) const {
  std::vector<const Function*> found;
  for (const Function* candidate : address_taken_) {
    if (signature_of(*candidate) == signature) found.push_back(candidate);
  }
  return found;
}

std::vector<const Function*> CallGraph::direct_callees(const Function& function) const {
  std::vector<const Function*> callees;
  for (const Instruction& instruction : function.body) {
    if (instruction.opcode != ptx::Opcode::call || target_of(instruction).reg >= 0) continue;
    const Function* callee = module_.find(target_of(instruction).name);
    if (callee != nullptr && !callee->external) callees.push_back(callee);
  }
  return callees;
}

bool CallGraph::calls_itself(const Function& function) const {
  std::set<const Function*> seen;
  std::vector<const Function*> left = direct_callees(function);
  while (!left.empty()) {
    const Function* callee = left.back();
    left.pop_back();
    if (callee == &function) return true;
    if (!seen.insert(callee).second) continue;
    for (const Function* next : direct_callees(*callee)) left.push_back(next);
  }
  return false;
}

}  // namespace rung::vgpu
