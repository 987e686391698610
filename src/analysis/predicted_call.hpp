#pragma once
// The time of a call that may take several launches.

#include <optional>

#include "analysis/explanation.hpp"
#include "analysis/samples.hpp"

namespace rung::analysis {

/// Why the time of a rung on vectors is not predicted; empty if it is.
std::string why_not_predicted(const RungInfo& rung);

/// Of a CUDA rung on contiguous vectors of n elements. Its launches are counted for two shorter
/// calls, where n is long. Empty if these take another number of launches than each other, or if the
/// rung leaves sums to the CPU. Throws as trace_call() does.
std::optional<diagnosis::Time> predicted_call(const RungInfo& rung, Dtype dtype, std::int64_t n,
                                              const Machine& machine,
                                              const ExplainOptions& options);

/// Of a CUDA gemm rung: its own launch, from two samples of a tile, after those that pack or split its
/// operands. `occupancy` is that of its own. Throws as trace_copies() does.
diagnosis::Time predicted_gemm(const GemmSetting& setting, const Samples& samples,
                               const vgpu::Occupancy& occupancy, const Machine& machine,
                               const ExplainOptions& options);

}  // namespace rung::analysis
