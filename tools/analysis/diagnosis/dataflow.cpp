#include "tools/analysis/diagnosis/dataflow.hpp"

#include <algorithm>

namespace rung::analysis::diagnosis {
namespace {

using vgpu::ptx::Function;
using vgpu::ptx::Instruction;
using vgpu::ptx::Opcode;
using vgpu::ptx::Operand;

bool contains_any(const Operand& operand, const std::set<int>& registers) {
  return registers.contains(operand.reg) ||
         std::ranges::any_of(operand.elements, [&](const Operand& element) {
           return contains_any(element, registers);
         });
}

void add_registers(const Operand& operand, std::set<int>& registers) {
  if (operand.reg >= 0) registers.insert(operand.reg);
  for (const Operand& element : operand.elements) add_registers(element, registers);
}

bool reads_any(const Instruction& instruction, const std::set<int>& registers) {
  return std::any_of(instruction.operands.begin() + 1, instruction.operands.end(),
                     [&](const Operand& operand) { return contains_any(operand, registers); });
}

/// The registers whose values depend on the results of sources.
std::set<int> reached(const Function& function, const IsSource& is_source) {
  std::set<int> registers;
  for (std::size_t before = 1, now = 0; before != now; now = registers.size()) {
    before = registers.size();
    for (const Instruction& instruction : function.body) {
      if (instruction.operands.empty() || instruction.is_store()) continue;
      if (is_source(instruction) || reads_any(instruction, registers)) {
        add_registers(instruction.operands.front(), registers);
      }
    }
  }
  return registers;
}

}  // namespace

std::set<int> lines_with_address_from(const vgpu::ptx::Module& text, const IsSource& is_source) {
  std::set<int> lines;
  for (const Function& function : text.functions) {
    const std::set<int> registers = reached(function, is_source);
    for (const Instruction& instruction : function.body) {
      const bool depends = std::ranges::any_of(instruction.operands, [&](const Operand& operand) {
        return operand.kind == Operand::Kind::address && registers.contains(operand.reg);
      });
      if (depends) lines.insert(instruction.line);
    }
  }
  return lines;
}

}  // namespace rung::analysis::diagnosis
