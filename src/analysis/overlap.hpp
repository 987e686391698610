#pragma once
// Latency hiding: how many FMAs are between a load and the first instruction that needs its value,
// in the order of the PTX. ptxas may move loads further up, but not across barriers.

#include <optional>

#include "analysis/kernel_trace.hpp"

namespace rung::analysis {

struct Overlap {
  /// FMAs that a warp issues between a load of the main loop and the first use of its value, as the
  /// median over such loads; empty if there are none. Asynchronous copies are excluded: nothing
  /// waits for their value in a register.
  std::optional<double> global, shared;
  /// The most bytes that a thread requests from global memory before it uses the first of them; 0
  /// without such loads.
  double bytes_at_once = 0;
};

/// The trace's kernel must be in the text.
Overlap overlap(const KernelTrace& trace, const vgpu::ptx::Module& text);

}  // namespace rung::analysis
