#pragma once
// The results of a bench as comma-separated values, for spreadsheets and plots.

#include <string>
#include <vector>

#include "measure/bench.hpp"

namespace rung {

/// A heading, and a line for each rung, library and peer that was timed. Errors are those of
/// core/errors.hpp; empty where they were not measured.
std::string bench_csv(const std::vector<BenchResult>& results);

}  // namespace rung
