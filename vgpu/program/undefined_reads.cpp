#include "vgpu/program/undefined_reads.hpp"

#include <algorithm>

#include "vgpu/program/operands.hpp"
#include "vgpu/program/register_set.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

/// The state at one point of the program: registers that some path to it does not write, and
/// registers that some path writes.
struct Reached {
  RegisterSet unwritten, written;

  void write(int reg) {
    unwritten.erase(reg);
    written.insert(reg);
  }
};

/// The state at the start of each block.
std::vector<Reached> reached_by_block(const ptx::Function& function, const Cfg& cfg) {
  const RegisterSet none(function.registers.size());
  std::vector<Reached> at(cfg.blocks.size(), Reached{none, none});
  for (int reg = 0; reg < static_cast<int>(function.registers.size()); ++reg) {
    at.at(0).unwritten.insert(reg);
  }
  std::vector<RegisterSet> writes;
  for (const CfgBlock& block : cfg.blocks) {
    writes.push_back(none);
    for (std::size_t i = block.first; i < block.first + block.count; ++i) {
      for_each_definition(function.body[i], [&](int reg) { writes.back().insert(reg); });
    }
  }
  std::vector<bool> is_reached(cfg.blocks.size(), false);
  is_reached[0] = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < cfg.blocks.size(); ++i) {
      if (!is_reached[i]) continue;
      for (const int successor : cfg.blocks[i].successors) {
        if (successor == to_exit) continue;
        const auto to = static_cast<std::size_t>(successor);
        Reached& next = at[to];
        changed = changed || !is_reached[to];
        is_reached[to] = true;
        changed = next.unwritten.insert(at[i].unwritten, writes[i]) || changed;
        changed = next.written.insert(at[i].written, none) || changed;
        changed = next.written.insert(writes[i], none) || changed;
      }
    }
  }
  return at;
}

}  // namespace

std::vector<UndefinedRead> undefined_reads(const ptx::Function& function, const Cfg& cfg) {
  std::vector<UndefinedRead> reads;
  if (cfg.blocks.empty()) return reads;
  const std::vector<Reached> at = reached_by_block(function, cfg);
  RegisterSet reported(function.registers.size());
  for (std::size_t block = 0; block < cfg.blocks.size(); ++block) {
    Reached here = at[block];
    const std::size_t first = cfg.blocks[block].first;
    for (std::size_t i = first; i < first + cfg.blocks[block].count; ++i) {
      for_each_use(function.body[i], [&](int reg) {
        if (!here.unwritten.contains(reg) || reported.contains(reg)) return;
        reported.insert(reg);
        reads.push_back({reg, i, !here.written.contains(reg)});
      });
      for_each_definition(function.body[i], [&](int reg) { here.write(reg); });
    }
  }
  std::sort(reads.begin(), reads.end(),
            [](const UndefinedRead& a, const UndefinedRead& b) { return a.reg < b.reg; });
  return reads;
}

std::vector<bool> trackable_loads(const ptx::Function& function) {
  std::vector<bool> loads(function.body.size(), false);
  bool any = false;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const ptx::Instruction& instruction = function.body[i];
    loads[i] = instruction.opcode == ptx::Opcode::ld && instruction.has("shared");
    any = any || loads[i];
  }
  return any ? loads : std::vector<bool>();
}

bool passes_undefined(const ptx::Instruction& instruction) {
  if (instruction.opcode == ptx::Opcode::wmma) return instruction.has("mma");
  return !instruction.has(ptx::Fact::defines_result);
}

std::vector<int> undefined_sources(const ptx::Function& function,
                                   const std::vector<UndefinedRead>& reads,
                                   const CopiedLoads& copied, const std::vector<bool>& tracked) {
  std::vector<int> source(function.registers.size(), -1);
  const auto of = [&](int reg) -> int& { return source[static_cast<std::size_t>(reg)]; };
  for (const UndefinedRead& read : reads) of(read.reg) = read.reg;
  int in_shared = -1;
  for (bool changed = !reads.empty() || !tracked.empty(); changed;) {
    changed = false;
    for (std::size_t i = 0; i < function.body.size(); ++i) {
      const ptx::Instruction& instruction = function.body[i];
      int found = -1;
      for_each_use(instruction, [&](int reg) { found = found < 0 ? of(reg) : found; });
      if (instruction.is_store() && instruction.has("shared") && in_shared < 0) {
        in_shared = found;
        changed = changed || found >= 0;
      }
      const bool is_copy =
          instruction.opcode == ptx::Opcode::ld && instruction.has("shared") && copied.contains(i);
      if (is_copy) found = in_shared;
      const bool is_tracked = i < tracked.size() && tracked[i];
      if (is_tracked) found = static_cast<int>(function.registers.size() + i);
      const bool passes = is_copy || is_tracked || passes_undefined(instruction) ||
                          (!tracked.empty() && instruction.opcode == ptx::Opcode::shfl);
      if (found < 0 || !passes) continue;
      for_each_definition(instruction, [&](int reg) {
        changed = changed || of(reg) < 0;
        if (of(reg) < 0) of(reg) = found;
      });
    }
  }
  return source;
}

}  // namespace rung::vgpu
