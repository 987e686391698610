#include "analysis/overlap.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace rung::analysis {
namespace {

using vgpu::ptx::Instruction;
using vgpu::ptx::Operand;

/// A kernel's instructions that ran, each with how often.
struct Executed {
  const Instruction* instruction;
  double executions;
  const Access* access = nullptr;
};

std::vector<Executed> executed(const KernelTrace& trace, const vgpu::ptx::Module& text) {
  std::map<int, Executed> by_place;
  const InstructionsByLine instructions = by_line(text);
  for (const SiteCount& site : trace.sites) {
    Executed& at = by_place[site.ptx_line];
    at.instruction = instructions.at(site.ptx_line);
    at.executions += static_cast<double>(site.executions);
  }
  for (const Access& access : trace.accesses) by_place[access.count.ptx_line].access = &access;
  std::vector<Executed> all;
  for (const auto& [line, at] : by_place) all.push_back(at);
  return all;
}

void collect(const Operand& operand, std::set<int>& registers) {
  if (operand.reg >= 0) registers.insert(operand.reg);
  for (const Operand& element : operand.elements) collect(element, registers);
}

std::set<int> written(const Instruction& instruction) {
  std::set<int> registers;
  if (!instruction.operands.empty()) collect(instruction.operands.front(), registers);
  return registers;
}

/// Stores read all their operands; other instructions write the first one.
std::set<int> read(const Instruction& instruction) {
  std::set<int> registers;
  const std::size_t first = instruction.opcode == "st" ? 0 : 1;
  for (std::size_t i = first; i < instruction.operands.size(); ++i) {
    collect(instruction.operands[i], registers);
  }
  return registers;
}

bool meet(const std::set<int>& a, const std::set<int>& b) {
  return std::any_of(a.begin(), a.end(), [&](int value) { return b.contains(value); });
}

/// From instruction `load` on, and round the loop to it: multiply-adds until the value is needed.
/// A move only gives it another name.
double multiply_adds_until_use(const std::vector<Executed>& all, std::size_t load) {
  std::set<int> names = written(*all[load].instruction);
  double between = 0;
  for (std::size_t step = 1; step < all.size(); ++step) {
    const Executed& next = all[(load + step) % all.size()];
    // What runs far less often than the load is outside its loop.
    if (next.executions < all[load].executions / 2) continue;
    if (meet(read(*next.instruction), names)) {
      if (next.instruction->opcode != "mov") return between;
      names.merge(written(*next.instruction));
      continue;
    }
    if (is_multiply_add(*next.instruction, false)) between += next.executions;
  }
  return between;
}

/// Of the loads from one space that run about as often as the most frequent one of them.
std::optional<double> median_distance(const std::vector<Executed>& all, Space space) {
  double most = 0;
  const auto counts = [&](const Executed& at) {
    return at.access != nullptr && at.access->space == space && at.access->is_load &&
           !at.access->asynchronous;
  };
  for (const Executed& at : all) {
    if (counts(at)) most = std::max(most, at.executions);
  }
  std::vector<double> distances;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!counts(all[i]) || all[i].executions < most / 2) continue;
    distances.push_back(multiply_adds_until_use(all, i) / all[i].executions);
  }
  if (distances.empty()) return std::nullopt;
  std::nth_element(distances.begin(), distances.begin() + std::ssize(distances) / 2,
                   distances.end());
  return distances[distances.size() / 2];
}

}  // namespace

Overlap overlap(const KernelTrace& trace, const vgpu::ptx::Module& text) {
  const std::vector<Executed> all = executed(trace, text);
  return {median_distance(all, Space::global), median_distance(all, Space::shared)};
}

}  // namespace rung::analysis
