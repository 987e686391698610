#pragma once
// Benchmark results as comma-separated values, for spreadsheets and plots.

#include <string>
#include <vector>

#include "tools/measure/bench.hpp"

namespace rung {

/// A header line, and one line per timed rung, library and peer. Errors are those of
/// core/errors.hpp; empty if not measured.
std::string bench_csv(const std::vector<BenchResult>& results);

}  // namespace rung
