#pragma once
// The measurements of this process, in the form that reports and comparisons read.

#include <vector>

#include "tools/measure/bench.hpp"
#include "tools/report/bench_results.hpp"

namespace rung {

/// One entry for each rung and for the library, in the order of to_json(). `machine` as in the file.
Results results_of(const std::vector<BenchResult>& measured, const Json& machine,
                   Results::Forms forms);

}  // namespace rung
