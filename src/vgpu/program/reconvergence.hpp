#pragma once
// Reconvergence points of divergent branches.

#include "vgpu/program/cfg.hpp"

namespace rung::vgpu {

/// Fills in CfgBlock::immediate_post_dominator.
///
/// On hardware, no lane waits for exited lanes, so a path that ends early must not delay the
/// reconvergence of the others. The graph alone does not tell which of several ends is early, so
/// these rules apply in turn:
///
/// 1. Ignore paths that can only trap, or that can only reach an `exit` where others reach a `ret`:
///    failed assertions, and the unreachable default of a switch.
/// 2. If there is still no post-dominator, ignore paths on which no barrier or warp-wide
///    instruction follows, if one follows on other paths: no lane has to wait for theirs.
/// 3. If there is still none, ignore paths that end without reaching a block that lanes of another
///    side of the branch may reach.
void find_reconvergence(Cfg& cfg);

}  // namespace rung::vgpu
