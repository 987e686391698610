#pragma once
// Predicts the time of a call, which may consist of several launches.

#include <optional>

#include "tools/analysis/explanation.hpp"
#include "tools/analysis/samples.hpp"

namespace rung::analysis {

/// The reason why the time of a rung on vectors is not predicted; empty if it is.
std::string why_not_predicted(const RungInfo& rung);

/// The predicted time of a CUDA rung on contiguous vectors of n elements. For large n, its launches
/// are traced for two shorter calls. Empty if these differ in their number of launches, or if the
/// CPU computes the final sum. Throws like trace_call().
std::optional<diagnosis::Time> predicted_call(const RungInfo& rung, Dtype dtype, std::int64_t n,
                                              const Machine& machine,
                                              const ExplainOptions& options);

/// The predicted time of a CUDA GEMM rung: its own launch, extrapolated from two samples of a tile,
/// and the preceding launches that pack or split its operands. `occupancy`: that of its own launch.
/// Throws like trace_copies().
diagnosis::Time predicted_gemm(const GemmSetting& setting, const Samples& samples,
                               const vgpu::Occupancy& occupancy, const Machine& machine,
                               const ExplainOptions& options);

}  // namespace rung::analysis
