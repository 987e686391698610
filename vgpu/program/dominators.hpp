#pragma once
// Post-dominators of a control-flow graph.

#include "vgpu/program/cfg.hpp"

namespace rung::vgpu {

/// The immediate post-dominator of each block; -1 for blocks without one. An edge to the exit
/// counts only for blocks without other successors. After K. D. Cooper, T. J. Harvey and K.
/// Kennedy, "A Simple, Fast Dominance Algorithm", 2001, on the reversed graph with one exit added.
/// An infinite loop counts as left at an exit inside it or, without one, at its last block, so that
/// lanes that diverge in it reconverge in it.
std::vector<int> post_dominators(const Cfg& cfg);

}  // namespace rung::vgpu
