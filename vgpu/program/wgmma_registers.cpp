#include "vgpu/program/wgmma_registers.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "vgpu/program/operands.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

using ptx::Instruction;
using ptx::Operand;

/// The state of a register at one point of the text.
struct State {
  static constexpr std::uint8_t idle = 255;

  // In flight: minimum number of groups committed since; 0: uncommitted.
  std::uint8_t groups = idle;
  bool only_read = false;   // in flight, as A
  bool unfenced = false;    // written since the last fence, on some path
  std::uint32_t wgmma = 0;  // index of the instruction

  bool in_flight() const { return groups != idle; }
  void end() {
    groups = idle;
    only_read = false;
  }
  bool operator==(const State&) const = default;
};
using States = std::vector<State>;

/// At joins, a condition that holds on any path holds afterwards.
bool merge(States& into, const States& from) {
  bool changed = false;
  for (std::size_t i = 0; i < into.size(); ++i) {
    State merged = into[i];
    if (from[i].groups < merged.groups) {
      merged = from[i];
      merged.unfenced = merged.unfenced || into[i].unfenced;
    } else {
      merged.unfenced = merged.unfenced || from[i].unfenced;
    }
    changed = changed || !(merged == into[i]);
    into[i] = merged;
  }
  return changed;
}

bool is_register_copy(const Instruction& instruction) {
  return instruction.opcode == ptx::Opcode::mov && instruction.guard < 0 &&
         instruction.operands.size() == 2 && instruction.operands[0].kind == Operand::Kind::reg &&
         instruction.operands[1].kind == Operand::Kind::reg;
}

class Walk {
 public:
  Walk(const ptx::Function& function, States& states, std::vector<WgmmaRegisterUse>* uses)
      : function_(function), states_(states), uses_(uses) {}

  void visit(std::size_t index) {
    const Instruction& instruction = function_.body[index];
    at_ = index;
    if (instruction.opcode == ptx::Opcode::wgmma) {
      visit_wgmma(instruction);
    } else if (is_register_copy(instruction)) {
      State& from = state(instruction.operands[1].reg);
      State& to = state(instruction.operands[0].reg);
      if (to.in_flight() && &to != &from) touch(instruction.operands[0].reg);
      to = from;
      if (from.only_read) to.end();
      if (&to != &from) from.end();
    } else {
      for_each_use(instruction, [&](int reg) {
        if (state(reg).in_flight() && !state(reg).only_read) touch(reg);
      });
      for_each_definition(instruction, [&](int reg) {
        if (state(reg).in_flight()) touch(reg);
        state(reg).unfenced = true;
      });
    }
  }

 private:
  State& state(int reg) { return states_[static_cast<std::size_t>(reg)]; }

  void note(int reg, bool in_flight) {
    if (uses_ == nullptr || (!uses_->empty() && uses_->back().instruction == at_)) return;
    uses_->push_back({at_, reg, in_flight, state(reg).wgmma});
  }

  /// Reports a use once, then treats the wgmma as complete.
  void touch(int reg) {
    note(reg, true);
    state(reg).end();
  }

  void visit_wgmma(const Instruction& instruction) {
    if (instruction.has("fence")) {
      for (State& each : states_) each.unfenced = false;
    } else if (instruction.has("commit_group")) {
      for (State& each : states_) {
        if (each.groups < State::idle - 1) ++each.groups;
      }
    } else if (instruction.has("wait_group")) {
      const std::uint64_t left = instruction.operands.at(0).bits;
      for (State& each : states_) {
        if (each.in_flight() && each.groups > left) each.end();
      }
    } else if (instruction.has("mma_async") && instruction.operands.size() > 1) {
      operands::for_each_register(instruction.operands[0], [&](int reg) { take(reg, false); });
      if (instruction.operands[1].kind == Operand::Kind::vector) {
        operands::for_each_register(instruction.operands[1], [&](int reg) { take(reg, true); });
      }
    }
  }

  void take(int reg, bool only_read) {
    State& taken = state(reg);
    if (taken.unfenced) note(reg, false);
    if (only_read && taken.in_flight() && !taken.only_read) touch(reg);
    taken = {0, only_read, false, static_cast<std::uint32_t>(at_)};
  }

  const ptx::Function& function_;
  States& states_;
  std::vector<WgmmaRegisterUse>* uses_;
  std::size_t at_ = 0;
};

void walk(const ptx::Function& function, const CfgBlock& block, States& states,
          std::vector<WgmmaRegisterUse>* uses) {
  Walk walk(function, states, uses);
  for (std::size_t i = block.first; i < block.first + block.count; ++i) walk.visit(i);
}

}  // namespace

std::vector<WgmmaRegisterUse> wgmma_register_uses(const ptx::Function& function, const Cfg& cfg) {
  const bool any =
      std::any_of(function.body.begin(), function.body.end(),
                  [](const Instruction& each) { return each.opcode == ptx::Opcode::wgmma; });
  if (!any) return {};
  State unknown;
  unknown.unfenced = true;
  std::vector<States> at(cfg.blocks.size());
  at[0].assign(function.registers.size(), unknown);
  std::vector<std::size_t> work = {0};
  while (!work.empty()) {
    const std::size_t index = work.back();
    work.pop_back();
    States states = at[index];
    walk(function, cfg.blocks[index], states, nullptr);
    for (const int successor : cfg.blocks[index].successors) {
      if (successor == to_exit) continue;
      const auto to = static_cast<std::size_t>(successor);
      const bool first = at[to].empty();
      if (first) at[to] = states;
      if ((first || merge(at[to], states)) &&
          std::find(work.begin(), work.end(), to) == work.end()) {
        work.push_back(to);
      }
    }
  }
  std::vector<WgmmaRegisterUse> uses;
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (!at[i].empty()) walk(function, cfg.blocks[i], at[i], &uses);
  }
  return uses;
}

}  // namespace rung::vgpu
