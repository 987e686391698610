#pragma once
// Explains the performance of a Metal rung as far as possible: Apple has not published figures of
// its caches, threadgroup memory and registers.

#include "tools/analysis/explanation.hpp"

namespace rung::analysis {

/// Throws std::invalid_argument with a one-line message if the rung or the device does not support
/// the arguments.
Explanation explain_metal_gemm(const RungInfo& rung, Dtype dtype, const cuda::GemmSize& size,
                               const ExplainOptions& options);

/// Adds what the explanation's sample determines: the resources of a threadgroup, and notes about
/// sources of figures and units of counters.
void add_published_facts(Explanation& explanation, const vgpu::DeviceDescription& device);

}  // namespace rung::analysis
