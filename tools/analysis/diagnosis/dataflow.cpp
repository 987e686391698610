#include "tools/analysis/diagnosis/dataflow.hpp"

#include <algorithm>
#include <vector>

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

namespace {

bool is_logical(const Instruction& instruction) {
  return instruction.is(Opcode::and_, Opcode::or_, Opcode::xor_, Opcode::not_);
}

bool is_sum(const Instruction& instruction) {
  return instruction.is(Opcode::add, Opcode::sub) && !instruction.has("f32") &&
         !instruction.has("f64") && !instruction.has("f16") && !instruction.has("f16x2");
}

bool has_immediate(const Instruction& instruction) {
  return instruction.operands.back().kind == Operand::Kind::immediate;
}

/// True if one machine instruction computes `first` and `then`, which uses its result.
bool merge(const Instruction& first, const Instruction& then) {
  const bool wide = then.has("s64") || then.has("u64") || then.has("b64");
  if (is_logical(first)) {
    if (first.has("pred")) return is_logical(then) && then.has("pred");
    const bool tests = then.opcode == Opcode::setp && has_immediate(then) &&
                       then.operands.back().bits == 0 && (then.has("eq") || then.has("ne"));
    return !wide && !then.has("pred") && (is_logical(then) || tests);
  }
  if (!is_sum(then)) return false;
  if (first.opcode == Opcode::mul)
    return first.has("wide") == wide && !first.has("hi") && !first.has("f32") && !first.has("f64");
  if (wide) return false;
  return is_sum(first) || (first.opcode == Opcode::shl && has_immediate(first));
}

}  // namespace

std::set<int> merged_lines(const vgpu::ptx::Module& text) {
  std::set<int> lines;
  for (const Function& function : text.functions) {
    std::vector<int> definitions(function.registers.size(), 0), uses(function.registers.size(), 0);
    std::vector<const Instruction*> producers(function.registers.size(), nullptr);
    for (const Instruction& instruction : function.body) {
      std::set<int> read;
      const bool writes = !instruction.is_store() && !instruction.has(vgpu::ptx::Fact::no_result);
      for (std::size_t i = writes ? 1 : 0; i < instruction.operands.size(); ++i) {
        add_registers(instruction.operands[i], read);
      }
      if (instruction.guard >= 0) read.insert(instruction.guard);
      for (const int reg : read) ++uses[static_cast<std::size_t>(reg)];
      if (!writes || instruction.operands.empty()) continue;
      std::set<int> written;
      add_registers(instruction.operands.front(), written);
      for (const int reg : written) {
        ++definitions[static_cast<std::size_t>(reg)];
        producers[static_cast<std::size_t>(reg)] = &instruction;
      }
    }
    for (const Instruction& then : function.body) {
      // An instruction has three inputs, so that one more instruction fits into it.
      for (std::size_t i = 1; i < then.operands.size(); ++i) {
        const int reg = then.operands[i].reg;
        if (reg < 0 || then.operands[i].kind != Operand::Kind::reg) continue;
        const auto at = static_cast<std::size_t>(reg);
        if (uses[at] != 1 || definitions[at] != 1 || producers[at] == nullptr) continue;
        const Instruction& first = *producers[at];
        if (first.line > then.line || lines.contains(first.line) || !merge(first, then)) continue;
        // An instruction that has taken another in is complete.
        const bool is_complete = std::ranges::any_of(first.operands, [&](const Operand& operand) {
          const Instruction* const before =
              operand.reg >= 0 ? producers[static_cast<std::size_t>(operand.reg)] : nullptr;
          return before != nullptr && before != &first && lines.contains(before->line);
        });
        if (is_complete) continue;
        lines.insert(first.line);
        break;
      }
    }
  }
  return lines;
}

}  // namespace rung::analysis::diagnosis
