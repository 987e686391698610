#pragma once
// Explains the performance of a Metal rung as far as possible: Apple has not published figures of
// its caches, threadgroup memory and registers.

#include "tools/analysis/explanation.hpp"

namespace rung::analysis {

/// Throws std::invalid_argument with a one-line message if the rung or the device does not support
/// the arguments.
Explanation explain_metal_gemm(const RungInfo& rung, Dtype dtype, const cuda::GemmSize& size,
                               const ExplainOptions& options);

/// Puts an explanation of a Metal kernel in Metal's words: the findings, with the Metal rungs of the
/// same ideas, and the resources of a threadgroup instead of unpublished figures.
/// Adds notes about sources of figures and units of counters.
void put_in_metal(Explanation& explanation, const vgpu::DeviceDescription& device);

}  // namespace rung::analysis
