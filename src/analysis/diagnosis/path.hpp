#pragma once
// How long a warp takes by itself: the latency that other warps have to hide.

#include "analysis/diagnosis/facts.hpp"

namespace rung::analysis::diagnosis {

/// Cycles of the mean warp. In a basic block, an instruction starts when its operands are ready:
/// ptxas moves loads ahead of arithmetic, but not across a store that may write what they read, nor
/// across a barrier. A short innermost loop is taken as unrolled four times, as ptxas does.
/// With `unevenness`, of a warp that runs loops so many times as often as the mean warp.
double path_cycles(const Facts& facts, const Cure& cure, double unevenness = 1);

}  // namespace rung::analysis::diagnosis
