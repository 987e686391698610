#pragma once
// `rung explain` for CPU rungs: their work, this machine's ceilings, and the time if it was
// measured.

#include <optional>

#include "analysis/measured_runs.hpp"
#include "arguments.hpp"
#include "command.hpp"

namespace rung {

/// Ceilings are measured, or read from an earlier run (src/measure/ceilings.hpp).
ExitCode explain_on_cpu(const RungInfo& rung, Dtype dtype, const SizeArgument& size,
                        const analysis::Results& results, const std::optional<OutputFile>& output);

}  // namespace rung
