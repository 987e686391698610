#include "tools/analysis/diagnosis/dataflow.hpp"

#include <algorithm>

#include "vgpu/ptx/opcodes.hpp"

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

bool has_address_in(const Instruction& instruction, const std::set<int>& registers) {
  return std::ranges::any_of(instruction.operands, [&](const Operand& operand) {
    return operand.kind == Operand::Kind::address && registers.contains(operand.reg);
  });
}

}  // namespace

std::set<int> lines_with_address_from(const vgpu::ptx::Module& text, const IsSource& is_source) {
  std::set<int> lines;
  for (const Function& function : text.functions) {
    const std::set<int> registers = reached(function, is_source);
    for (const Instruction& instruction : function.body) {
      if (has_address_in(instruction, registers)) lines.insert(instruction.line);
    }
  }
  return lines;
}

std::set<int> branches_decided_by(const vgpu::ptx::Module& text, const IsSource& is_source) {
  std::set<int> lines;
  for (const Function& function : text.functions) {
    const std::set<int> registers = reached(function, is_source);
    for (const Instruction& instruction : function.body) {
      if (instruction.opcode == Opcode::bra && registers.contains(instruction.guard)) {
        lines.insert(instruction.line);
      }
    }
  }
  return lines;
}

std::set<int> lines_with_own_address(const vgpu::ptx::Module& text, const IsSource& is_source) {
  std::set<int> lines;
  for (const Function& function : text.functions) {
    for (const Instruction& source : function.body) {
      if (!is_source(source)) continue;
      const std::set<int> registers =
          reached(function, [&](const Instruction& other) { return &other == &source; });
      if (has_address_in(source, registers)) lines.insert(source.line);
    }
  }
  return lines;
}

}  // namespace rung::analysis::diagnosis
