#pragma once
// Benchmark results as text for a terminal.

#include <string>

#include "tools/measure/bench.hpp"

namespace rung {

/// "gemm f32 512x512x512 nn", "dot f32 1000".
std::string describe(const BenchResult& result);

/// The problem, the table, the noise, and one line per rung with the verdict.
std::string bench_table(const BenchResult& result);

}  // namespace rung
