#pragma once
// Latency hiding: the number of FMAs between a load and the first instruction that uses its result,
// in the order of the PTX. ptxas may move loads further up, but not across barriers.

#include <optional>

#include "tools/analysis/kernel_trace.hpp"

namespace rung::analysis {

struct Overlap {
  /// FMAs that a warp issues between a load in the main loop and the first use of its result: the
  /// median over these loads; empty if there are no loads. Excludes asynchronous copies, which do
  /// not return a value in a register.
  std::optional<double> global, shared;
  /// The maximum number of bytes that a thread requests from global memory before it uses the first
  /// of them; 0 without such loads.
  double bytes_at_once = 0;
};

/// The trace's kernel must be in `text`.
Overlap overlap(const KernelTrace& trace, const vgpu::ptx::Module& text);

}  // namespace rung::analysis
