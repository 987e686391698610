#include "vgpu/program/copied_loads.hpp"

#include <algorithm>

#include "vgpu/program/operands.hpp"

namespace rung::vgpu {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;

bool copies_register(const Instruction& instruction) {
  return instruction.opcode == Opcode::mov && instruction.guard < 0 &&
         instruction.operands.size() == 2 && instruction.operands[0].kind == Operand::Kind::reg &&
         instruction.operands[1].kind == Operand::Kind::reg;
}

/// By register: whether an instruction does more with it than to store it. A register is one value
/// here, whichever instruction wrote it.
std::vector<bool> used_registers(const ptx::Function& function) {
  std::vector<bool> used(function.registers.size(), false);
  const auto use = [&](int reg) { used[static_cast<std::size_t>(reg)] = true; };
  for (const Instruction& instruction : function.body) {
    if (copies_register(instruction)) continue;
    if (instruction.opcode == Opcode::st) {
      if (instruction.guard >= 0) use(instruction.guard);
      operands::for_each_register(instruction.operands[0], use);
    } else {
      for_each_use(instruction, use);
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const Instruction& instruction : function.body) {
      if (!copies_register(instruction)) continue;
      const auto to = static_cast<std::size_t>(instruction.operands[0].reg);
      const auto from = static_cast<std::size_t>(instruction.operands[1].reg);
      if (!used[to] || used[from]) continue;
      used[from] = changed = true;
    }
  }
  return used;
}

std::vector<bool> used_elements(const Instruction& load, const std::vector<bool>& used) {
  const Operand& target = load.operands[0];
  const auto is_used = [&](const Operand& element) {
    return element.kind == Operand::Kind::reg && used[static_cast<std::size_t>(element.reg)];
  };
  if (target.kind != Operand::Kind::vector) return {is_used(target)};
  std::vector<bool> elements;
  for (const Operand& element : target.elements) elements.push_back(is_used(element));
  return elements;
}

bool drops_old_value(const ptx::Function& function, const Instruction& atomic) {
  const Operand& old = atomic.operands[0];
  if (old.kind != Operand::Kind::reg) return true;
  return std::none_of(function.body.begin(), function.body.end(), [&](const Instruction& other) {
    bool reads = false;
    for_each_use(other, [&](int reg) { reads = reads || reg == old.reg; });
    return reads;
  });
}

}  // namespace

CopiedLoads copied_loads(const ptx::Function& function) {
  const std::vector<bool> used = used_registers(function);
  CopiedLoads loads;
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    const Instruction& instruction = function.body[i];
    if (instruction.opcode == Opcode::atom && instruction.has("exch") &&
        drops_old_value(function, instruction)) {
      loads.emplace(i, std::vector<bool>());
    }
    if (instruction.opcode != Opcode::ld) continue;
    std::vector<bool> elements = used_elements(instruction, used);
    if (std::find(elements.begin(), elements.end(), false) != elements.end()) {
      loads.emplace(i, std::move(elements));
    }
  }
  return loads;
}

}  // namespace rung::vgpu
