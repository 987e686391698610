#pragma once
// Where lanes that part meet again.

#include "vgpu/program/cfg.hpp"

namespace rung::vgpu {

/// Fills in CfgBlock::immediate_post_dominator.
///
/// On hardware, lanes that have ended are waited for nowhere, so a path that ends early must not
/// keep the others apart. Which of several ends is early, the graph alone does not say. In turn:
///
/// 1. A path that can only trap, or only come to an `exit` where others come to a `ret`, is left
///    out. Assertions end like that, and the impossible default of a switch.
/// 2. Where that leaves no post-dominator, paths on which no barrier or warp-wide instruction
///    follows are left out beside others on which one does: nobody has to wait for their lanes.
/// 3. Where there is still none, paths that end without coming to a block that lanes of another
///    side of the branch may come to are left out.
void find_reconvergence(Cfg& cfg);

}  // namespace rung::vgpu
