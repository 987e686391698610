#pragma once
// The time of a call that may take several launches.

#include <optional>

#include "analysis/explanation.hpp"

namespace rung::analysis {

/// Why the model does not cover the rung; empty if it does. The errors of those named here were
/// measured, and are larger than what is published with predictions.
std::string why_not_predicted(const RungInfo& rung);

/// Of a CUDA rung on contiguous vectors of n elements. Its launches are counted for two shorter
/// calls, where n is long. Empty if these take another number of launches than each other, or if the
/// rung leaves sums to the CPU. Throws as trace_call() does.
std::optional<diagnosis::Time> predicted_call(const RungInfo& rung, Dtype dtype, std::int64_t n,
                                              const Machine& machine,
                                              const ExplainOptions& options);

}  // namespace rung::analysis
