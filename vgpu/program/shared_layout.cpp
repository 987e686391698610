#include "vgpu/program/shared_layout.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace rung::vgpu {
namespace {

constexpr std::uint64_t dynamic_align = 16;

void add_names(const ptx::Operand& operand, std::set<std::string>& names) {
  if (!operand.name.empty()) names.insert(operand.name);
  for (const ptx::Operand& element : operand.elements) add_names(element, names);
}

std::uint64_t aligned(std::uint64_t offset, std::uint64_t align) {
  return (offset + align - 1) / align * align;
}

}  // namespace

std::map<std::string, std::uint64_t> shared_layout(const ptx::Module& module,
                                                   const ptx::Function& entry) {
  std::set<std::string> named;
  for (const ptx::Instruction& instruction : entry.body) {
    for (const ptx::Operand& operand : instruction.operands) add_names(operand, named);
  }
  std::map<std::string, std::uint64_t> offsets;
  std::vector<const ptx::Variable*> dynamic;
  std::uint64_t end = 0;
  for (const auto* variables : {&entry.variables, &module.variables}) {
    for (const ptx::Variable& variable : *variables) {
      if (variable.space != ptx::Space::shared || !named.contains(variable.name)) continue;
      if (variable.bytes() == 0) {
        dynamic.push_back(&variable);
        continue;
      }
      end = aligned(end, static_cast<std::uint64_t>(std::max(variable.align, 1)));
      offsets[variable.name] = end;
      end += static_cast<std::uint64_t>(variable.bytes());
    }
  }
  for (const ptx::Variable* variable : dynamic) {
    const auto align = std::max(dynamic_align, static_cast<std::uint64_t>(variable->align));
    offsets[variable->name] = aligned(end, align);
  }
  return offsets;
}

}  // namespace rung::vgpu
