#pragma once
// Explains the performance of a Metal rung as far as possible: Apple has not published figures for
// its caches, threadgroup memory and registers.

#include "analysis/explanation.hpp"

namespace rung::analysis {

/// Throws std::invalid_argument, in one line, for arguments that the rung or the device does not
/// support.
Explanation explain_metal_gemm(const RungInfo& rung, Dtype dtype, const cuda::GemmSize& size,
                               const ExplainOptions& options);

/// From the explanation's sample: the resources of a threadgroup, and notes on sources of figures
/// and on the units of counters.
void add_what_is_public(Explanation& explanation, const vgpu::DeviceDescription& device);

}  // namespace rung::analysis
