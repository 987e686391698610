#pragma once
// A report from results: what `rung report` and `rung bench --html` share.

#include <string>

#include "arguments.hpp"
#include "report/bench_results.hpp"
#include "report/plots/plots.hpp"

namespace rung {

/// Runs each CUDA rung among the results once on the virtual GPU, on a small problem, and says on
/// the terminal which.
Traces trace_rungs(const Results& results, const DeviceOptions& options);

/// Writes every plot to a file of `folder`, which is made if it is not there. Throws
/// std::runtime_error for what cannot be written.
void write_pictures(const std::string& folder, const Results& results, const Traces& traces);

}  // namespace rung
