#include "vgpu/program/speculation.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "vgpu/program/operands.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;

bool is_candidate(const Instruction& instruction) {
  static const std::set<std::string_view> ordered = {"volatile", "relaxed", "acquire", "mmio",
                                                     "param",    "local",   "const"};
  return instruction.opcode == Opcode::ld && instruction.guard < 0 &&
         std::none_of(
             instruction.modifiers.begin(), instruction.modifiers.end(),
             [](const auto& word) { return ordered.contains(word); });
}

/// True if it only computes each lane's result from that lane's operands.
bool only_computes(const Instruction& instruction) {
  return instruction.has(ptx::Fact::lane_wise) && has_destination(instruction);
}

/// Follows one load's value through the rest of the basic block.
class ValueWalk {
 public:
  ValueWalk(const ptx::Function& function, const Cfg& cfg, const Liveness& liveness)
      : function_(function), cfg_(cfg), liveness_(liveness) {}

  /// All uses of the value; nullopt if some lane may use it unconditionally.
  std::optional<std::vector<SpeculatedUse>> uses(const CfgBlock& block, std::size_t load) {
    for_each_definition(function_.body[load], [&](int reg) { values_.insert(reg); });
    for (std::size_t i = load + 1; i < block.first + block.count; ++i) {
      if (!pass(i)) return std::nullopt;
    }
    if (!leave(block) || uses_.empty()) return std::nullopt;
    return uses_;
  }

 private:
  bool holds(int reg) const { return values_.contains(reg); }
  bool holds(const Operand& operand) const {
    return operand.kind == Operand::Kind::reg && holds(operand.reg);
  }

  /// Processes an instruction. Returns false if it uses the value unconditionally.
  bool pass(std::size_t at) {
    const Instruction& instruction = function_.body[at];
    bool reads = false;
    for_each_use(instruction, [&](int reg) { reads = reads || holds(reg); });
    if (reads && !follow(at, instruction)) return false;
    if (!reads && instruction.guard < 0) {
      for_each_definition(instruction, [&](int reg) { values_.erase(reg); });
    }
    return true;
  }

  bool follow(std::size_t at, const Instruction& instruction) {
    if (instruction.guard >= 0) {
      if (holds(instruction.guard) || ends_block(instruction)) return false;
      uses_.push_back({at, instruction.guard, instruction.guard_negated});
      return true;
    }
    if (!only_computes(instruction)) return false;
    if (const auto use = choice(at, instruction)) {
      uses_.push_back(*use);
      for_each_definition(instruction, [&](int reg) { values_.erase(reg); });
    } else {
      for_each_definition(instruction, [&](int reg) { values_.insert(reg); });
    }
    return true;
  }

  /// The use, if the instruction selects the value, or uses it under a condition.
  std::optional<SpeculatedUse> choice(std::size_t at, const Instruction& instruction) const {
    const auto& operands = instruction.operands;
    if (instruction.opcode == Opcode::selp && operands.size() == 4) {
      if (operands[3].kind != Operand::Kind::reg || operands[3].negated) return std::nullopt;
      const bool first = holds(operands[1]), second = holds(operands[2]);
      if (first == second || holds(operands[3])) return std::nullopt;
      return SpeculatedUse{at, operands[3].reg, second};
    }
    const bool logic = instruction.is(Opcode::and_, Opcode::or_);
    if (!logic || !instruction.has("pred") || operands.size() != 3) return std::nullopt;
    const Operand& other = holds(operands[1]) ? operands[2] : operands[1];
    if (other.kind != Operand::Kind::reg || other.negated || holds(other)) return std::nullopt;
    return SpeculatedUse{at, other.reg, instruction.opcode == Opcode::or_};
  }

  bool wanted_in(int block) const {
    if (block == to_exit) return false;
    const RegisterSet& live = liveness_.in[static_cast<std::size_t>(block)];
    return std::any_of(values_.begin(), values_.end(), [&](int reg) { return live.contains(reg); });
  }

  /// Processes the end of the block, after which only one side of its branch may use the value. A
  /// value that is used around a loop was prefetched for the next iteration. Returns false for
  /// other uses.
  bool leave(const CfgBlock& block) {
    const auto wanted = [&](int to) { return wanted_in(to); };
    if (std::none_of(block.successors.begin(), block.successors.end(), wanted)) return true;
    const std::size_t last = block.first + block.count - 1;
    const Instruction& end = function_.body[last];
    if (block.successors.size() != 2 || end.guard < 0 || block.indirect) return false;
    const bool taken = wanted(block.successors[0]);
    const int to = block.successors[taken ? 0 : 1];
    if (taken && wanted(block.successors[1])) return false;
    if (cfg_.blocks[static_cast<std::size_t>(to)].loop_header) return false;
    uses_.push_back({last, end.guard, taken == end.guard_negated});
    return true;
  }

  const ptx::Function& function_;
  const Cfg& cfg_;
  const Liveness& liveness_;
  std::set<int> values_;  // registers that hold the value or results computed from it
  std::vector<SpeculatedUse> uses_;
};

}  // namespace

SpeculatedLoads speculated_loads(const ptx::Function& function, const Cfg& cfg,
                                 const Liveness& liveness) {
  SpeculatedLoads loads;
  for (const CfgBlock& block : cfg.blocks) {
    for (std::size_t i = block.first; i < block.first + block.count; ++i) {
      if (!is_candidate(function.body[i])) continue;
      if (auto uses = ValueWalk(function, cfg, liveness).uses(block, i)) {
        loads.emplace(i, std::move(*uses));
      }
    }
  }
  return loads;
}

}  // namespace rung::vgpu
