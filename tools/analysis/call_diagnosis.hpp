#pragma once
// Diagnoses a rung's call, which may consist of several launches, at the size of the whole problem.

#include <optional>

#include "tools/analysis/explanation.hpp"
#include "tools/analysis/metal_setting.hpp"
#include "tools/analysis/samples.hpp"

namespace rung::analysis {

/// Diagnoses a CUDA GEMM rung: its own launch, extrapolated from two samples of a tile, and the
/// preceding launches that pack or split its operands. `registers`: of its own kernel. Throws like
/// trace_copies().
diagnosis::Diagnosis diagnosed_gemm(const GemmSetting& setting, const Samples& samples,
                                    const Registers& registers, const Machine& machine,
                                    const ExplainOptions& options);
/// Diagnoses a Metal GEMM rung in this way.
diagnosis::Diagnosis diagnosed_gemm(const MetalSetting& setting, const Samples& samples,
                                    const Registers& registers, const Machine& machine,
                                    const ExplainOptions& options);

/// Diagnoses a rung on contiguous vectors of n elements: its launches, without sums left to the
/// CPU. For large n, they are extrapolated from two shorter calls. Empty if these differ in their
/// number of launches. Throws like trace_call().
std::optional<diagnosis::Diagnosis> diagnosed_call(const RungInfo& rung, Dtype dtype,
                                                   std::int64_t n, const Machine& machine,
                                                   const ExplainOptions& options);

}  // namespace rung::analysis
