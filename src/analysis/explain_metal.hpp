#pragma once
// Why a Metal rung is as fast as it is, as far as that can be told: Apple has not published what
// its caches, threadgroup memory and registers are.

#include "analysis/explanation.hpp"

namespace rung::analysis {

/// Throws std::invalid_argument, in one line, for what the rung or the device does not allow.
Explanation explain_metal_gemm(const RungInfo& rung, Dtype dtype, const cuda::GemmSize& size,
                               const ExplainOptions& options);

/// Of the explanation's sample: what a threadgroup takes, and notes on what is known by whom, and
/// in whose units counters are.
void add_what_is_public(Explanation& explanation, const vgpu::DeviceDescription& device);

}  // namespace rung::analysis
