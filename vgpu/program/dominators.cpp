#include "vgpu/program/dominators.hpp"

#include <algorithm>

namespace rung::vgpu {
namespace {

constexpr int unvisited = -2;

bool may_exit(const CfgBlock& block) {
  return std::find(block.successors.begin(), block.successors.end(), to_exit) !=
         block.successors.end();
}

/// True if all lanes that reach the block exit there.
bool only_exits(const CfgBlock& block) {
  return std::all_of(block.successors.begin(), block.successors.end(),
                     [](int successor) { return successor == to_exit; });
}

/// Computes the post-order of depth-first traversals from the exits along predecessors.
class BackwardWalk {
 public:
  explicit BackwardWalk(const Cfg& cfg) : cfg_(cfg), seen_(cfg.blocks.size(), false) {
    const auto size = static_cast<int>(cfg.blocks.size());
    for (int block = 0; block < size; ++block) {
      if (only_exits(at(block))) walk_from(block);
    }
    // Loops that are left only by an exit inside, or never: the exit inside or, without one, the
    // last block in textual order counts as their exit.
    for (int block = size; block-- > 0;) {
      if (may_exit(at(block))) walk_from(block);
    }
    for (int block = size; block-- > 0;) walk_from(block);
  }

  const std::vector<int>& order() const { return order_; }
  /// The blocks at which traversals started. They count as predecessors of the exit.
  const std::vector<int>& roots() const { return roots_; }

 private:
  struct Visit {
    int block;
    std::size_t next;  // index of the next predecessor
  };

  const CfgBlock& at(int block) const { return cfg_.blocks[static_cast<std::size_t>(block)]; }

  void walk_from(int root) {
    if (!visit(root)) return;
    roots_.push_back(root);
    while (!stack_.empty()) {
      Visit& top = stack_.back();
      const auto& predecessors = at(top.block).predecessors;
      if (top.next < predecessors.size()) {
        visit(predecessors[top.next++]);
      } else {
        order_.push_back(top.block);
        stack_.pop_back();
      }
    }
  }

  bool visit(int block) {
    if (seen_[static_cast<std::size_t>(block)]) return false;
    seen_[static_cast<std::size_t>(block)] = true;
    stack_.push_back({block, 0});
    return true;
  }

  const Cfg& cfg_;
  std::vector<bool> seen_;
  std::vector<Visit> stack_;
  std::vector<int> order_, roots_;
};

}  // namespace

std::vector<int> post_dominators(const Cfg& cfg) {
  const auto exit = static_cast<int>(cfg.blocks.size());
  const BackwardWalk walk(cfg);
  const std::vector<int>& order = walk.order();
  std::vector<bool> leaves(cfg.blocks.size(), false);
  for (const int root : walk.roots()) leaves[static_cast<std::size_t>(root)] = true;
  std::vector<int> number(cfg.blocks.size() + 1, -1);
  for (std::size_t i = 0; i < order.size(); ++i) {
    number[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  }
  number[static_cast<std::size_t>(exit)] = static_cast<int>(order.size());

  std::vector<int> dominator(cfg.blocks.size() + 1, unvisited);
  dominator[static_cast<std::size_t>(exit)] = exit;
  const auto intersect = [&](int a, int b) {
    while (a != b) {
      while (number[static_cast<std::size_t>(a)] < number[static_cast<std::size_t>(b)]) {
        a = dominator[static_cast<std::size_t>(a)];
      }
      while (number[static_cast<std::size_t>(b)] < number[static_cast<std::size_t>(a)]) {
        b = dominator[static_cast<std::size_t>(b)];
      }
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (auto at = order.rbegin(); at != order.rend(); ++at) {
      const CfgBlock& block = cfg.blocks[static_cast<std::size_t>(*at)];
      int found = leaves[static_cast<std::size_t>(*at)] ? exit : unvisited;
      for (const int successor : block.successors) {
        if (successor == to_exit || dominator[static_cast<std::size_t>(successor)] == unvisited)
          continue;
        found = found == unvisited ? successor : intersect(found, successor);
      }
      int& known = dominator[static_cast<std::size_t>(*at)];
      changed = changed || known != found;
      known = found;
    }
  }
  dominator.resize(cfg.blocks.size());
  for (int& found : dominator) {
    if (found == unvisited || found == exit) found = -1;
  }
  return dominator;
}

}  // namespace rung::vgpu
