#include "vgpu/engine/execution/skipped_sync.hpp"

#include <atomic>
#include <map>
#include <tuple>

#include "vgpu/model/source_check.hpp"

namespace rung::vgpu {
namespace {

using Blocks = std::vector<bool>;

std::atomic<SourceCheck> source_check = nullptr;

std::size_t at(int block) { return static_cast<std::size_t>(block); }

std::vector<int> successors(const BasicBlock& block) {
  std::vector<int> to = block.targets;
  const bool jumps = block.end == BasicBlock::End::jump || block.end == BasicBlock::End::branch;
  if (jumps && block.taken >= 0) to.push_back(block.taken);
  if (block.end != BasicBlock::End::jump && block.next >= 0) to.push_back(block.next);
  return to;
}

bool may_exit(const BasicBlock& block) {
  return block.end == BasicBlock::End::exit || block.end == BasicBlock::End::exit_if;
}

/// The blocks that are reachable from `start` without entering `avoided`.
Blocks reachable(const Kernel& kernel, int start, int avoided) {
  Blocks seen(kernel.blocks.size(), false);
  std::vector<int> left;
  const auto visit = [&](int block) {
    if (block < 0 || block == avoided || seen[at(block)]) return;
    seen[at(block)] = true;
    left.push_back(block);
  };
  visit(start);
  while (!left.empty()) {
    const int block = left.back();
    left.pop_back();
    for (const int to : successors(kernel.blocks[at(block)])) visit(to);
  }
  return seen;
}

bool exits(const Kernel& kernel, const Blocks& blocks) {
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i] && may_exit(kernel.blocks[i])) return true;
  }
  return false;
}

/// True if a thread cannot exit without having executed this block.
bool precedes_every_exit(const Kernel& kernel, int block) {
  return block == 0 || !exits(kernel, reachable(kernel, 0, block));
}

/// True if the branch at the end of `block` alone decides whether `goal` runs: threads that take the way to
/// it cannot return ahead of it.
bool decides(const Kernel& kernel, int block, int goal) {
  const BasicBlock& branch = kernel.blocks[at(block)];
  if (branch.end != BasicBlock::End::branch && branch.end != BasicBlock::End::exit_if) return false;
  const bool skips_at_once = branch.end == BasicBlock::End::exit_if;
  bool reaches = false, skips = skips_at_once;
  for (const int to : successors(branch)) {
    const bool leads_there = to == goal || reachable(kernel, to, -1)[at(goal)];
    const bool may_avoid = to != goal && exits(kernel, reachable(kernel, to, goal));
    if (leads_there && may_avoid) return false;
    reaches = reaches || leads_there;
    skips = skips || may_avoid;
  }
  return reaches && skips;
}

/// "tile.cu:7" if the statement of the branch at `branch` encloses the instruction at `site`.
std::string enclosing(const Kernel& kernel, std::uint32_t branch, std::uint32_t site) {
  const SourceCheck check = source_check.load();
  if (check == nullptr || branch >= kernel.sites.size() || site >= kernel.sites.size()) return {};
  const Site &outer = kernel.sites[branch], &inner = kernel.sites[site];
  if (outer.where.empty() || outer.source.file != inner.source.file) return {};
  const std::string& file = kernel.files[static_cast<std::size_t>(outer.source.file)];
  return check(file, outer.source.line, inner.source.line) ? outer.where : "";
}

/// Two instructions of a kernel. The kernel's own data tell it from a later one at the same address.
using Pair = std::tuple<const Kernel*, const Site*, std::uint32_t, std::uint32_t>;

Pair pair_of(const Kernel& kernel, std::uint32_t first, std::uint32_t second) {
  return {&kernel, kernel.sites.data(), first, second};
}

/// Remembers compute() for a pair, by thread, because blocks ask at each barrier.
template <class Result, class Compute>
Result remembered(const Pair& pair, const Compute& compute) {
  thread_local std::map<Pair, Result> known;
  const auto [found, is_new] = known.try_emplace(pair);
  if (is_new) found->second = compute();
  return found->second;
}

int block_of(const Kernel& kernel, std::uint32_t site) {
  return site < kernel.block_of_site.size() ? static_cast<int>(kernel.block_of_site[site]) : -1;
}

std::string find_branch_around(const Kernel& kernel, std::uint32_t site) {
  const int goal = block_of(kernel, site);
  if (goal < 0) return {};
  // Threads that have left a loop may have been at its barrier.
  for (const int to : successors(kernel.blocks[at(goal)])) {
    if (reachable(kernel, to, -1)[at(goal)]) return {};
  }
  for (int block = 0; block < static_cast<int>(kernel.blocks.size()); ++block) {
    if (block == goal || !decides(kernel, block, goal)) continue;
    if (!precedes_every_exit(kernel, block)) continue;
    const std::string where = enclosing(kernel, kernel.blocks[at(block)].end_site, site);
    if (!where.empty()) return where;
  }
  return {};
}

/// Reverse postorder of a depth-first search: edges that do not increase it close loops.
std::vector<int> order_of(const Kernel& kernel) {
  std::vector<int> order(kernel.blocks.size(), -1);
  std::vector<std::pair<int, std::vector<int>>> path;
  Blocks seen(kernel.blocks.size(), false);
  int next = static_cast<int>(kernel.blocks.size());
  const auto enter = [&](int block) {
    seen[at(block)] = true;
    path.emplace_back(block, successors(kernel.blocks[at(block)]));
  };
  enter(0);
  while (!path.empty()) {
    auto& [block, left] = path.back();
    if (left.empty()) {
      order[at(block)] = --next;
      path.pop_back();
      continue;
    }
    const int to = left.back();
    left.pop_back();
    if (!seen[at(to)]) enter(to);
  }
  return order;
}

bool find_leads_to(const Kernel& kernel, int first, int second) {
  const std::vector<int> order = order_of(kernel);
  Blocks seen(kernel.blocks.size(), false);
  std::vector<int> left = {first};
  while (!left.empty()) {
    const int block = left.back();
    left.pop_back();
    for (const int to : successors(kernel.blocks[at(block)])) {
      if (order[at(to)] <= order[at(block)] || seen[at(to)]) continue;
      if (to == second) return true;
      seen[at(to)] = true;
      left.push_back(to);
    }
  }
  return false;
}

}  // namespace

void set_source_check(SourceCheck check) { source_check = check; }

std::string branch_that_skips(const Kernel& kernel, std::span<const EarlyExit> exits,
                              std::uint32_t site) {
  std::uint32_t last = Kernel::no_site;
  for (const EarlyExit& exit : exits) {
    if (exit.site == last) continue;
    last = exit.site;
    const auto where = remembered<std::string>(pair_of(kernel, exit.site, site),
                                               [&] { return enclosing(kernel, exit.site, site); });
    if (!where.empty()) return where;
  }
  return {};
}

std::string branch_around(const Kernel& kernel, std::uint32_t site) {
  if (source_check.load() == nullptr) return {};
  return remembered<std::string>(pair_of(kernel, Kernel::no_site, site),
                                 [&] { return find_branch_around(kernel, site); });
}

bool leads_to(const Kernel& kernel, std::uint32_t first, std::uint32_t second) {
  const int from = block_of(kernel, first), to = block_of(kernel, second);
  if (from < 0 || to < 0 || from == to) return false;
  return remembered<bool>(pair_of(kernel, first, second),
                          [&] { return find_leads_to(kernel, from, to); });
}

}  // namespace rung::vgpu
