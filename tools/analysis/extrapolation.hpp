#pragma once
// Extrapolates the counts of a problem that is too large for the virtual GPU from two smaller ones.

#include "tools/analysis/kernel_trace.hpp"

namespace rung::analysis {

/// Counts grow linearly with the size. The target is at `step` times the distance between the two
/// problems, measured from the shorter one, and consists of `times` such parts.
struct Extrapolation {
  double step = 0;
  double times = 1;
};

/// The longer trace with all counts extrapolated, including those of one block or warp. The grid
/// remains that of the longer one.
KernelTrace extrapolated(const KernelTrace& shorter, const KernelTrace& longer,
                         const Extrapolation& to);

}  // namespace rung::analysis
