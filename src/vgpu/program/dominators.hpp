#pragma once
// Post-dominators of a control-flow graph.

#include "vgpu/program/cfg.hpp"

namespace rung::vgpu {

/// By block: the nearest block that every path from there to an exit passes; -1 if there is none. A
/// block with other successors besides the exit counts as going to these alone. After K. D. Cooper,
/// T. J. Harvey and K. Kennedy, "A Simple, Fast Dominance Algorithm", 2001, on the reversed graph
/// with one exit added. A loop that no path leaves counts as left at an exit inside of it, or else
/// at its last block, so that what divides in it comes together in it.
std::vector<int> post_dominators(const Cfg& cfg);

}  // namespace rung::vgpu
