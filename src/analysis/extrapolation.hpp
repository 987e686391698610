#pragma once
// The counts of a problem that is too long for the virtual GPU, from those of two shorter ones.

#include "analysis/kernel_trace.hpp"

namespace rung::analysis {

/// Counts that grow linearly from the shorter problem to the longer one, at `step` times their
/// distance from the shorter one, and of as many such parts as `times` says.
struct Extrapolation {
  double step = 0;
  double times = 1;
};

/// The longer trace with all counts extrapolated; those of one block or warp, too. The grid stays
/// the longer one's.
KernelTrace extrapolated(const KernelTrace& shorter, const KernelTrace& longer,
                         const Extrapolation& to);

}  // namespace rung::analysis
