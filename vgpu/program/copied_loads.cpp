#include "vgpu/program/copied_loads.hpp"

#include <algorithm>
#include <unordered_map>

#include "vgpu/program/operands.hpp"
#include "vgpu/ptx/opcodes.hpp"

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

/// By register: true if some instruction uses it other than for a store. A register counts as one
/// value, whichever instruction wrote it.
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
  // A copy is used if its target is: propagate from each used register to the registers it was
  // copied from.
  std::unordered_multimap<int, int> sources;
  for (const Instruction& instruction : function.body) {
    if (!copies_register(instruction)) continue;
    sources.emplace(instruction.operands[0].reg, instruction.operands[1].reg);
  }
  std::vector<int> pending;
  for (const auto& [to, from] : sources) {
    if (used[static_cast<std::size_t>(to)]) pending.push_back(from);
  }
  while (!pending.empty()) {
    const int reg = pending.back();
    pending.pop_back();
    if (used[static_cast<std::size_t>(reg)]) continue;
    use(reg);
    const auto [first, last] = sources.equal_range(reg);
    for (auto copy = first; copy != last; ++copy) pending.push_back(copy->second);
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

/// By register: true if some instruction reads it.
std::vector<bool> read_registers(const ptx::Function& function) {
  std::vector<bool> read(function.registers.size(), false);
  for (const Instruction& instruction : function.body) {
    for_each_use(instruction, [&](int reg) { read[static_cast<std::size_t>(reg)] = true; });
  }
  return read;
}

}  // namespace

CopiedLoads copied_loads(const ptx::Function& function) {
  const std::vector<bool> used = used_registers(function);
  const std::vector<bool> read = read_registers(function);
  CopiedLoads loads;
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    const Instruction& instruction = function.body[i];
    if (instruction.opcode == Opcode::atom && instruction.has("exch")) {
      const Operand& old = instruction.operands[0];
      const bool drops_old =
          old.kind != Operand::Kind::reg || !read[static_cast<std::size_t>(old.reg)];
      if (drops_old) loads.emplace(i, std::vector<bool>());
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
