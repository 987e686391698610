#pragma once
// The critical path of a warp on its own: the latency that other warps have to hide.

#include "tools/analysis/diagnosis/facts.hpp"

namespace rung::analysis::diagnosis {

/// Cycles of one warp.
struct Path {
  double all = 0;     // from the first instruction to the last
  double issued = 0;  // of these, cycles with an issued instruction

  void add(const Path& other, double times) {
    all += times * other.all;
    issued += times * other.issued;
  }
};

/// The critical path of the mean warp. In a basic block, an instruction starts when its operands
/// are available: ptxas moves loads ahead of arithmetic, but not ahead of a store that may alias,
/// nor of a barrier. Short innermost loops are unrolled four times, and short blocks are
/// predicated, as by ptxas.
/// If `unevenness` is not 1, of a warp that executes loops `unevenness` times as often as the mean
/// warp.
Path path_of(const Facts& facts, const Cure& cure, double unevenness = 1);

}  // namespace rung::analysis::diagnosis
