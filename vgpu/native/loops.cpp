#include "vgpu/native/loops.hpp"

#include <cstddef>
#include <utility>

namespace rung::vgpu::native {
namespace {

constexpr std::size_t max_blocks = 8;

Loops::Path successors(const BasicBlock& block) {
  switch (block.end) {
    case BasicBlock::End::next: return {block.next};
    case BasicBlock::End::jump: return block.meets ? Loops::Path() : Loops::Path{block.taken};
    case BasicBlock::End::branch: return {block.taken, block.next};
    default: return {};
  }
}

}  // namespace

Loops::Loops(const Kernel& kernel, std::span<const Run* const> runs, const Vectors& vectors)
    : kernel_(kernel), runs_(runs), lanes_{vectors}, is_head_(kernel.blocks.size()) {
  if (vectors.passes > 1) return;
  for (int i = 0; i < static_cast<int>(kernel.blocks.size()); ++i) {
    for (const int next : successors(at(i))) {
      if (next >= 0 && next <= i) is_head_[static_cast<std::size_t>(next)] = true;
    }
  }
}

Loops::Path Loops::path_from(int begin) const {
  std::vector<Path> paths;
  if (is_head_[static_cast<std::size_t>(begin)]) paths.push_back({begin});
  for (std::size_t i = 0; i < paths.size() && paths[i].size() <= max_blocks; ++i) {
    const BasicBlock& block = at(paths[i].back());
    if (!is_translated(block)) continue;
    for (const int next : successors(block)) {
      if (next == begin) return paths[i];
      if (next < begin || std::ranges::find(paths[i], next) != paths[i].end()) continue;
      Path longer = paths[i];
      longer.push_back(next);
      paths.push_back(std::move(longer));
    }
  }
  return {};
}

bool Loops::is_translated(const BasicBlock& block) const {
  if (block.suspends || block.exchanges) return false;
  return std::ranges::none_of(runs_of(block), [](const Run* run) { return run == nullptr; });
}

Plan Loops::plan_of(const Path& path) const {
  Plan plan(lanes_);
  for (const int block : path) {
    for_each_instruction(block, [&](const Instr& instr) {
      native::plan(plan, instr);
      plan.next_instruction();
    });
    plan.may_be_left();
  }
  plan.ends_at(Instr::used_later - 1);
  return plan;
}

}  // namespace rung::vgpu::native
