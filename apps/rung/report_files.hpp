#pragma once
// Reports from results, shared by `rung report` and `rung bench --html`.

#include <string>

#include "arguments.hpp"
#include "tools/report/bench_results.hpp"
#include "tools/report/plots/plots.hpp"

namespace rung {

/// Runs each CUDA rung among the results once on the virtual GPU, on a small problem, and shows
/// progress.
Traces trace_rungs(const Results& results, const DeviceOptions& options);

/// Writes every plot to a file in `folder`, which is created if needed. Throws std::runtime_error
/// if a file cannot be written.
void write_pictures(const std::string& folder, const Results& results, const Traces& traces);

/// The pages of a report in a folder (report/page/site.hpp). Throws std::runtime_error.
void write_site(const std::string& folder, const Results& results, const Traces& traces);

}  // namespace rung
