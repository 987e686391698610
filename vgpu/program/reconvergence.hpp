#pragma once
// Reconvergence points of divergent branches.

#include "vgpu/program/cfg.hpp"

namespace rung::vgpu {

/// Sets CfgBlock::immediate_post_dominator.
///
/// On hardware, lanes do not wait for exited lanes, so a path that ends early must not delay the
/// reconvergence of the others. The graph alone does not tell which of several ends is early, so
/// these rules apply in turn:
///
/// 1. Ignore paths that can only trap, or that can only reach an `exit` where others reach a `ret`:
///    failed assertions, and the unreachable default of a switch.
/// 2. If a post-dominator still does not exist, ignore paths without a later barrier or warp-wide
///    instruction, if other paths have one: no lane has to wait for them.
/// 3. If it still does not exist, ignore paths that end without reaching a block that lanes of
///    another side of the branch may reach.
void find_reconvergence(Cfg& cfg);

}  // namespace rung::vgpu
