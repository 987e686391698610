#pragma once
// Whether a kernel has something to do while a load is on its way: how many multiply-adds lie
// between a load and the first instruction that needs its value, in the order of the PTX text.
// ptxas may move loads further up; it does not move them across barriers.

#include <optional>

#include "analysis/kernel_trace.hpp"

namespace rung::analysis {

struct Overlap {
  /// Multiply-adds that a warp issues from a load of the main loop to the first use of its value,
  /// the median of such loads; nothing without them. Asynchronous copies are none of them: nothing
  /// waits for their value in a register.
  std::optional<double> global, shared;
  /// Bytes that a thread asks global memory for before it needs the first of them, at most; 0
  /// without such loads.
  double bytes_at_once = 0;
};

/// The kernel of the trace must be in the text.
Overlap overlap(const KernelTrace& trace, const vgpu::ptx::Module& text);

}  // namespace rung::analysis
