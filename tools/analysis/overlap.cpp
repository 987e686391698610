#include "tools/analysis/overlap.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "vgpu/ptx/opcodes.hpp"

namespace rung::analysis {
namespace {

using vgpu::ptx::Instruction;
using vgpu::ptx::Operand;

/// The executed instructions of a kernel, with their counts.
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

/// The registers that an instruction reads. Stores only read their operands; other instructions
/// write the first.
std::set<int> read(const Instruction& instruction) {
  std::set<int> registers;
  const std::size_t first = instruction.opcode == vgpu::ptx::Opcode::st ? 0 : 1;
  for (std::size_t i = first; i < instruction.operands.size(); ++i) {
    collect(instruction.operands[i], registers);
  }
  return registers;
}

bool meet(const std::set<int>& a, const std::set<int>& b) {
  return std::any_of(a.begin(), a.end(), [&](int value) { return b.contains(value); });
}

bool is_plain_load(const Executed& at, Space space) {
  return at.access != nullptr && at.access->space == space && at.access->is_load &&
         !at.access->asynchronous;
}

/// The work of a warp between a load and the first use of its result.
struct Distance {
  double multiply_adds = 0;
  double bytes = 0;  // per lane, by this and other loads from the same space
};

/// Searches from instruction `load` on, around the loop and back. A move only renames the value.
Distance distance_to_use(const std::vector<Executed>& all, std::size_t load) {
  const double executions = all[load].executions;
  const Access& access = *all[load].access;
  std::set<int> names = written(*all[load].instruction);
  Distance distance;
  distance.bytes = access.bytes;
  for (std::size_t step = 1; step < all.size(); ++step) {
    const Executed& next = all[(load + step) % all.size()];
    // Skips instructions executed far less often than the load: they are outside its loop.
    if (next.executions < executions / 2) continue;
    if (meet(read(*next.instruction), names)) {
      if (next.instruction->opcode != vgpu::ptx::Opcode::mov) break;
      names.merge(written(*next.instruction));
      continue;
    }
    if (is_multiply_add(*next.instruction, false)) {
      distance.multiply_adds += next.executions / executions;
    }
    if (is_plain_load(next, access.space)) distance.bytes += next.access->bytes;
  }
  return distance;
}

/// The distances of loads from one space that are executed about as often as the most frequent of
/// them.
std::vector<Distance> distances(const std::vector<Executed>& all, Space space) {
  double most = 0;
  for (const Executed& at : all) {
    if (is_plain_load(at, space)) most = std::max(most, at.executions);
  }
  std::vector<Distance> found;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!is_plain_load(all[i], space) || all[i].executions < most / 2) continue;
    found.push_back(distance_to_use(all, i));
  }
  return found;
}

std::optional<double> median(const std::vector<Distance>& of) {
  if (of.empty()) return std::nullopt;
  std::vector<double> sorted;
  for (const Distance& one : of) sorted.push_back(one.multiply_adds);
  const auto middle = sorted.begin() + std::ssize(sorted) / 2;
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

}  // namespace

Overlap overlap(const KernelTrace& trace, const vgpu::ptx::Module& text) {
  const std::vector<Executed> all = executed(trace, text);
  const std::vector<Distance> global = distances(all, Space::global);
  Overlap overlap;
  overlap.global = median(global);
  overlap.shared = median(distances(all, Space::shared));
  for (const Distance& one : global)
    overlap.bytes_at_once = std::max(overlap.bytes_at_once, one.bytes);
  return overlap;
}

}  // namespace rung::analysis
