#pragma once
// Where lanes that part come together again.

#include "vgpu/program/cfg.hpp"

namespace rung::vgpu {

/// Fills in CfgBlock::immediate_post_dominator. After K. D. Cooper, T. J. Harvey and K. Kennedy, "A
/// Simple, Fast Dominance Algorithm", 2001, on the reversed graph with one exit added. A loop that
/// no path leaves counts as left at an exit inside of it, or else at its last block, so that what
/// divides in it comes together in it.
void find_post_dominators(Cfg& cfg);

}  // namespace rung::vgpu
