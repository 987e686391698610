#pragma once
// `rung explain` for CPU rungs: their work, this machine's ceilings, the time if it was measured,
// cache misses and instructions if valgrind is there.

#include <optional>

#include "arguments.hpp"
#include "command.hpp"
#include "tools/analysis/measured_runs.hpp"

namespace rung {

struct CpuExplainOptions {
  analysis::Results results;         // measured times
  std::optional<OutputFile> output;  // JSON
  bool counts = true;                // by valgrind
};

/// Ceilings are measured, or read from an earlier run (tools/measure/ceilings.hpp).
ExitCode explain_on_cpu(const RungInfo& rung, Dtype dtype, const SizeArgument& size,
                        const CpuExplainOptions& options);

}  // namespace rung
