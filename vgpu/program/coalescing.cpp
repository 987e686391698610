#include "vgpu/program/coalescing.hpp"

#include <algorithm>
#include <numeric>

#include "vgpu/program/operands.hpp"
#include "vgpu/program/rows.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

constexpr int no_register = -1;

/// A write to a register and, for a copy, its source.
struct Definition {
  std::size_t position;
  int copy_of;
};

bool contains(const LiveRange& range, std::size_t position) {
  const auto behind = std::upper_bound(
      range.begin(), range.end(), position,
      [](std::size_t wanted, const Segment& segment) { return wanted < segment.begin; });
  return behind != range.begin() && position < std::prev(behind)->end;
}

class Coalescer {
 public:
  Coalescer(const ptx::Function& function, const std::vector<LiveRange>& ranges)
      : function_(function),
        ranges_(ranges),
        definitions_(ranges.size()),
        leader_(ranges.size()),
        members_(ranges.size()) {
    std::iota(leader_.begin(), leader_.end(), 0);
    for (int reg = 0; reg < static_cast<int>(ranges.size()); ++reg) {
      members_[index(reg)] = {reg};
      // A value that is live at the entry counts as a definition.
      if (contains(ranges[index(reg)], 0)) definitions_[index(reg)].push_back({0, no_register});
    }
    for (std::size_t i = 0; i < function.body.size(); ++i) {
      const int source = copied_by(function.body[i]);
      for_each_definition(function.body[i], [&](int reg) {
        definitions_[index(reg)].push_back({2 * i + 1, source});
      });
    }
  }

  std::vector<int> run() {
    for (const ptx::Instruction& instruction : function_.body) {
      const int source = copied_by(instruction);
      if (source != no_register) unite(leader(instruction.operands[0].reg), leader(source));
    }
    for (int reg = 0; reg < static_cast<int>(leader_.size()); ++reg)
      leader_[index(reg)] = leader(reg);
    return std::move(leader_);
  }

 private:
  static std::size_t index(int reg) { return static_cast<std::size_t>(reg); }

  int width(int reg) const { return row_bytes(function_.registers[index(reg)].type); }

  /// The source register if the instruction only copies it, for all lanes; otherwise no_register.
  int copied_by(const ptx::Instruction& instruction) const {
    if (instruction.opcode != ptx::Opcode::mov || instruction.guard >= 0) return no_register;
    const ptx::Operand& to = instruction.operands.at(0);
    const ptx::Operand& from = instruction.operands.at(1);
    const bool registers =
        to.kind == ptx::Operand::Kind::reg && from.kind == ptx::Operand::Kind::reg && !from.negated;
    return registers && width(to.reg) == width(from.reg) ? from.reg : no_register;
  }

  int leader(int reg) const {
    while (leader_[index(reg)] != reg) reg = leader_[index(reg)];
    return reg;
  }

  void unite(int a, int b) {
    if (a == b || disturb(a, b) || disturb(b, a)) return;
    if (members_[index(a)].size() < members_[index(b)].size()) std::swap(a, b);
    leader_[index(b)] = a;
    auto& members = members_[index(a)];
    members.insert(members.end(), members_[index(b)].begin(), members_[index(b)].end());
  }

  /// True if a write to one of `writers` would overwrite a live value of one of `others`.
  bool disturb(int writers, int others) const {
    const auto is_copy = [&](int source) {
      return source != no_register && (leader(source) == writers || leader(source) == others);
    };
    for (const int writer : members_[index(writers)]) {
      for (const Definition& definition : definitions_[index(writer)]) {
        if (is_copy(definition.copy_of)) continue;
        for (const int other : members_[index(others)]) {
          if (contains(ranges_[index(other)], definition.position)) return true;
        }
      }
    }
    return false;
  }

  const ptx::Function& function_;
  const std::vector<LiveRange>& ranges_;
  std::vector<std::vector<Definition>> definitions_;  // by register
  std::vector<int> leader_;
  std::vector<std::vector<int>> members_;  // by leader
};

}  // namespace

std::vector<int> coalesce_copies(const ptx::Function& function,
                                 const std::vector<LiveRange>& ranges) {
  return Coalescer(function, ranges).run();
}

}  // namespace rung::vgpu
