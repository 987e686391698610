#include "vgpu/program/cfg.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>

#include "vgpu/program/reconvergence.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

using Labels = std::map<std::string_view, std::size_t>;

Labels labels_of(const ptx::Function& function) {
  Labels labels;
  for (const ptx::Label& label : function.labels) labels[label.name] = label.at;
  return labels;
}

bool is_jump(const ptx::Instruction& instruction) {
  return instruction.opcode == ptx::Opcode::bra && instruction.guard < 0 &&
         !instruction.has("call");
}

/// True for a call through the call stack.
bool is_call(const ptx::Instruction& instruction) {
  return instruction.is(ptx::Opcode::bra, ptx::Opcode::brx) && instruction.has("call");
}

CfgBlock::WayOut way_out_by(const ptx::Instruction& instruction) {
  if (instruction.opcode == ptx::Opcode::trap) return CfgBlock::WayOut::trap;
  if (instruction.opcode == ptx::Opcode::exit) return CfgBlock::WayOut::exit;
  return CfgBlock::WayOut::ret;
}

/// The instruction that a branch to `label` reaches, following jumps to jumps.
std::size_t landing_of(const ptx::Function& function, const Labels& labels,
                       const std::string& label) {
  std::size_t at = labels.at(label);
  constexpr int max_jumps = 8;  // they may form a cycle
  for (int i = 0; i < max_jumps && at < function.body.size() && is_jump(function.body[at]); ++i) {
    at = labels.at(function.body[at].operands.at(0).name);
  }
  return at;
}

bool is_plain_exit(const ptx::Instruction& instruction) {
  return instruction.guard < 0 && instruction.is(ptx::Opcode::ret, ptx::Opcode::exit);
}

/// The target of a branch to `label`: an instruction, or the index past the end if only an exit
/// follows.
std::size_t target_of(const ptx::Function& function, const Labels& labels,
                      const std::string& label) {
  const std::size_t exit = function.body.size();
  const std::size_t end = landing_of(function, labels, label);
  return end == exit || is_plain_exit(function.body[end]) ? exit : labels.at(label);
}

/// The way in which a block that ends with this instruction leaves the kernel, if it does.
CfgBlock::WayOut way_out_of(const ptx::Function& function, const Labels& labels,
                            const ptx::Instruction& last) {
  if (last.opcode != ptx::Opcode::bra) return way_out_by(last);
  const std::size_t end = landing_of(function, labels, last.operands.at(0).name);
  return end < function.body.size() ? way_out_by(function.body[end]) : CfgBlock::WayOut::ret;
}

/// The indices of possible next instructions, the guarded target first. The index past the end
/// represents an exit.
std::vector<std::size_t> targets_of(const ptx::Function& function, const Labels& labels,
                                    std::size_t at) {
  const ptx::Instruction& instruction = function.body[at];
  std::vector<std::size_t> targets;
  if (instruction.opcode == ptx::Opcode::bra) {
    targets.push_back(target_of(function, labels, instruction.operands.at(0).name));
  } else if (instruction.opcode == ptx::Opcode::brx) {
    // Each entry of the list is a block of its own, even if it is an exit, because the index
    // selects among them.
    for (const auto& list : function.branch_targets) {
      if (list.name != instruction.operands.at(1).name) continue;
      for (const std::string& label : list.labels) targets.push_back(labels.at(label));
    }
  } else if (ends_block(instruction)) {
    targets.push_back(function.body.size());
  }
  if (!ends_block(instruction) || instruction.guard >= 0) targets.push_back(at + 1);
  return targets;
}

/// Marks the targets of back edges of a depth-first traversal from the entry.
void mark_loop_headers(Cfg& cfg) {
  struct Visit {
    int block;
    std::size_t next;  // index of the next successor
  };
  enum class State : std::uint8_t { unseen, on_path, left };
  std::vector<State> states(cfg.blocks.size(), State::unseen);
  std::vector<Visit> path;
  const auto enter = [&](int block) {
    State& state = states[static_cast<std::size_t>(block)];
    if (state == State::on_path) cfg.blocks[static_cast<std::size_t>(block)].loop_header = true;
    if (state != State::unseen) return;
    state = State::on_path;
    path.push_back({block, 0});
  };
  if (!cfg.blocks.empty()) enter(0);
  while (!path.empty()) {
    Visit& top = path.back();
    const auto& successors = cfg.blocks[static_cast<std::size_t>(top.block)].successors;
    if (top.next == successors.size()) {
      states[static_cast<std::size_t>(top.block)] = State::left;
      path.pop_back();
    } else if (const int successor = successors[top.next++]; successor != to_exit) {
      enter(successor);
    }
  }
}

}  // namespace

bool synchronises(const ptx::Instruction& instruction) {
  return instruction.has(ptx::Fact::warp_wide);
}

bool may_suspend(const ptx::Instruction& instruction) {
  return instruction.has(ptx::Fact::suspends) ||
         (instruction.opcode == ptx::Opcode::mbarrier && instruction.has("try_wait")) ||
         (instruction.opcode == ptx::Opcode::tcgen05 && instruction.has("alloc"));
}

bool ends_block(const ptx::Instruction& instruction) {
  return instruction.has(ptx::Fact::ends_block);
}

Cfg control_flow(const ptx::Function& function) {
  const std::size_t size = function.body.size();
  const Labels labels = labels_of(function);
  std::vector<bool> begins(size + 1, false);
  if (size > 0) begins[0] = true;
  for (const auto& [name, at] : labels) begins[std::min(at, size)] = true;
  for (std::size_t i = 0; i < size; ++i) {
    if (ends_block(function.body[i]) || may_suspend(function.body[i])) begins[i + 1] = true;
  }

  Cfg cfg;
  std::vector<int> block_at(size, -1);
  for (std::size_t i = 0; i < size; ++i) {
    if (begins[i]) {
      cfg.blocks.emplace_back();
      cfg.blocks.back().first = i;
    }
    block_at[i] = static_cast<int>(cfg.blocks.size()) - 1;
    ++cfg.blocks.back().count;
    if (synchronises(function.body[i])) cfg.blocks.back().synchronises = true;
  }
  for (std::size_t index = 0; index < cfg.blocks.size(); ++index) {
    CfgBlock& block = cfg.blocks[index];
    const std::size_t last = block.first + block.count - 1;
    const ptx::Instruction& end = function.body[last];
    block.indirect = end.opcode == ptx::Opcode::brx;
    if (is_call(end)) block.call_returns_to = block_at[labels.at(end.operands.back().name)];
    block.returns = block.indirect && end.has("ret");
    for (const std::size_t target : targets_of(function, labels, last)) {
      const int successor = target < size ? block_at[target] : to_exit;
      block.successors.push_back(successor);
      if (successor == to_exit) {
        block.way_out = way_out_of(function, labels, function.body[last]);
        continue;
      }
      cfg.blocks[static_cast<std::size_t>(successor)].predecessors.push_back(
          static_cast<int>(index));
    }
  }
  find_reconvergence(cfg);
  mark_loop_headers(cfg);
  return cfg;
}

}  // namespace rung::vgpu
