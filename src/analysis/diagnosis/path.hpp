#pragma once
// How long a warp takes by itself: the latency that other warps have to hide.

#include "analysis/diagnosis/facts.hpp"

namespace rung::analysis::diagnosis {

/// Cycles of one warp.
struct Path {
  double all = 0;     // from the first instruction to the last one
  double issued = 0;  // of these, cycles in which the warp issues an instruction

  void add(const Path& other, double times) {
    all += times * other.all;
    issued += times * other.issued;
  }
};

/// Of the mean warp. In a basic block, an instruction starts when its operands are ready:
/// ptxas moves loads ahead of arithmetic, but not across a store that may write what they read, nor
/// across a barrier. A short innermost loop is taken as unrolled four times, as ptxas does; short
/// blocks that a branch skips are predicated.
/// With `unevenness`, of a warp that runs loops so many times as often as the mean warp.
Path path_of(const Facts& facts, const Cure& cure, double unevenness = 1);

}  // namespace rung::analysis::diagnosis
