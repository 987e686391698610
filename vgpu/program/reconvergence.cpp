#include "vgpu/program/reconvergence.hpp"

#include <algorithm>
#include <vector>

#include "vgpu/program/dominators.hpp"

namespace rung::vgpu {
namespace {

using BlockSet = std::vector<bool>;
using WayOut = CfgBlock::WayOut;

std::size_t at(int block) { return static_cast<std::size_t>(block); }

/// A copy of the graph in which every edge with ignored(from, to) leads to the exit.
template <class F>
Cfg without(const Cfg& cfg, const F& ignored) {
  Cfg result = cfg;
  for (CfgBlock& block : result.blocks) block.predecessors.clear();
  for (std::size_t from = 0; from < cfg.blocks.size(); ++from) {
    for (int& to : result.blocks[from].successors) {
      if (to != to_exit && ignored(static_cast<int>(from), to)) to = to_exit;
      if (to != to_exit) result.blocks[at(to)].predecessors.push_back(static_cast<int>(from));
    }
  }
  return result;
}

/// The blocks from which one of `goals` is reachable, including the goals.
BlockSet reaching(const Cfg& cfg, BlockSet goals) {
  std::vector<int> left;
  for (std::size_t i = 0; i < goals.size(); ++i) {
    if (goals[i]) left.push_back(static_cast<int>(i));
  }
  while (!left.empty()) {
    const int block = left.back();
    left.pop_back();
    for (const int predecessor : cfg.blocks[at(block)].predecessors) {
      if (goals[at(predecessor)]) continue;
      goals[at(predecessor)] = true;
      left.push_back(predecessor);
    }
  }
  return goals;
}

template <class F>
BlockSet reaching_where(const Cfg& cfg, const F& is_goal) {
  BlockSet goals;
  for (const CfgBlock& block : cfg.blocks) goals.push_back(is_goal(block));
  return reaching(cfg, std::move(goals));
}

template <class F>
bool any_successor(const Cfg& cfg, int block, const F& f) {
  const auto& successors = cfg.blocks[at(block)].successors;
  return std::any_of(successors.begin(), successors.end(),
                     [&](int to) { return to != to_exit && f(to); });
}

/// True if all lanes that reach the block exit there.
bool only_leaves(const CfgBlock& block) {
  return std::all_of(block.successors.begin(), block.successors.end(),
                     [](int to) { return to == to_exit; });
}

/// For each block, the most usual end that is reachable from it.
std::vector<WayOut> best_ends(const Cfg& cfg) {
  std::vector<WayOut> best(cfg.blocks.size(), WayOut::none);
  for (const WayOut end : {WayOut::trap, WayOut::exit, WayOut::ret}) {
    const BlockSet reach =
        reaching_where(cfg, [&](const CfgBlock& block) { return block.way_out == end; });
    for (std::size_t i = 0; i < best.size(); ++i) {
      if (reach[i]) best[i] = end;
    }
  }
  return best;
}

/// An indirect branch cannot lead directly to the exit, only to a block that exits.
bool is_indirect_exit(const Cfg& cfg, int from, int to) {
  return cfg.blocks[at(from)].indirect && cfg.blocks[at(to)].count == 1 &&
         only_leaves(cfg.blocks[at(to)]);
}

Cfg without_abnormal_ends(const Cfg& cfg) {
  const std::vector<WayOut> best = best_ends(cfg);
  const auto traps = [&](int block) {
    return only_leaves(cfg.blocks[at(block)]) && cfg.blocks[at(block)].way_out == WayOut::trap;
  };
  return without(cfg, [&](int from, int to) {
    if (is_indirect_exit(cfg, from, to)) return true;
    if (traps(to)) return any_successor(cfg, from, [&](int other) { return !traps(other); });
    return best[at(to)] != WayOut::none && best[at(to)] < best[at(from)];
  });
}

Cfg without_idle_ends(const Cfg& cfg) {
  const BlockSet busy =
      reaching_where(cfg, [](const CfgBlock& block) { return block.synchronises; });
  return without(cfg, [&](int from, int to) {
    return !busy[at(to)] && any_successor(cfg, from, [&](int other) { return busy[at(other)]; });
  });
}

/// Increments `times` for each block that is reachable from `start` without passing `branch`.
void count_reached(const Cfg& cfg, int start, int branch, std::vector<int>& times) {
  if (start == branch) return;
  BlockSet seen(cfg.blocks.size(), false);
  std::vector<int> left = {start};
  seen[at(start)] = true;
  while (!left.empty()) {
    const int block = left.back();
    left.pop_back();
    ++times[at(block)];
    for (const int to : cfg.blocks[at(block)].successors) {
      if (to == to_exit || to == branch || seen[at(to)]) continue;
      seen[at(to)] = true;
      left.push_back(to);
    }
  }
}

/// Where lanes of this branch reconverge, ignoring paths that do not join others; -1 if they never
/// do.
int meeting_of(const Cfg& cfg, int branch) {
  std::vector<int> sides = cfg.blocks[at(branch)].successors;
  std::sort(sides.begin(), sides.end());
  sides.erase(std::unique(sides.begin(), sides.end()), sides.end());
  std::vector<int> times(cfg.blocks.size(), 0);
  for (const int side : sides) {
    if (side != to_exit) count_reached(cfg, side, branch, times);
  }
  BlockSet common;
  for (const int count : times) common.push_back(count > 1);
  if (std::find(common.begin(), common.end(), true) == common.end()) return -1;
  const BlockSet meets = reaching(cfg, std::move(common));
  return post_dominators(without(cfg, [&](int, int to) { return !meets[at(to)]; }))[at(branch)];
}

bool is_branch(const CfgBlock& block) { return block.successors.size() > 1; }

/// Sets immediate_post_dominator in a graph without calls.
void find_meetings(Cfg& cfg) {
  const Cfg normal = without_abnormal_ends(cfg);
  const std::vector<int> strict = post_dominators(normal);
  for (std::size_t i = 0; i < strict.size(); ++i)
    cfg.blocks[i].immediate_post_dominator = strict[i];
  const bool all_reconverge = std::none_of(
      cfg.blocks.begin(), cfg.blocks.end(),
      [](const CfgBlock& block) { return is_branch(block) && block.immediate_post_dominator < 0; });
  if (all_reconverge) return;
  const Cfg busy = without_idle_ends(normal);
  const std::vector<int> before_work = post_dominators(busy);
  for (std::size_t i = 0; i < cfg.blocks.size(); ++i) {
    int& found = cfg.blocks[i].immediate_post_dominator;
    if (!is_branch(cfg.blocks[i]) || found >= 0) continue;
    found = before_work[i] >= 0 ? before_work[i] : meeting_of(busy, static_cast<int>(i));
  }
}

/// A copy in which a call continues at its return block, and a return ends the thread: lanes
/// reconverge in the function in which they diverged.
Cfg function_by_function(const Cfg& cfg) {
  Cfg result = cfg;
  for (CfgBlock& block : result.blocks) {
    block.predecessors.clear();
    if (block.call_returns_to >= 0) {
      block.successors = {block.call_returns_to};
      block.indirect = false;
    } else if (block.returns) {
      block.successors = {to_exit};
      block.way_out = WayOut::ret;
      block.indirect = false;
    }
  }
  for (std::size_t from = 0; from < result.blocks.size(); ++from) {
    for (const int to : result.blocks[from].successors) {
      if (to != to_exit) result.blocks[at(to)].predecessors.push_back(static_cast<int>(from));
    }
  }
  return result;
}

/// Marks blocks that synchronise, or call a function that may.
void spread_synchronisation(const Cfg& cfg, Cfg& functions) {
  for (bool changed = true; changed;) {
    changed = false;
    const BlockSet busy =
        reaching_where(functions, [](const CfgBlock& block) { return block.synchronises; });
    for (std::size_t i = 0; i < cfg.blocks.size(); ++i) {
      CfgBlock& block = functions.blocks[i];
      if (block.call_returns_to < 0 || block.synchronises) continue;
      block.synchronises =
          any_successor(cfg, static_cast<int>(i), [&](int to) { return busy[at(to)]; });
      changed = changed || block.synchronises;
    }
  }
}

}  // namespace

void find_reconvergence(Cfg& cfg) {
  const bool has_calls =
      std::any_of(cfg.blocks.begin(), cfg.blocks.end(),
                  [](const CfgBlock& block) { return block.call_returns_to >= 0; });
  if (has_calls) {
    Cfg functions = function_by_function(cfg);
    spread_synchronisation(cfg, functions);
    find_meetings(functions);
    for (std::size_t i = 0; i < cfg.blocks.size(); ++i) {
      cfg.blocks[i].immediate_post_dominator = functions.blocks[i].immediate_post_dominator;
    }
  } else {
    find_meetings(cfg);
  }
}

}  // namespace rung::vgpu
