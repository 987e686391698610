#pragma once
// The results of a bench as text for a terminal.

#include <string>

#include "measure/bench.hpp"

namespace rung {

/// "gemm f32 512x512x512 nn", "dot f32 1000".
std::string describe(const BenchResult& result);

/// The problem, the table, the noise, and one line with the verdict on each rung.
std::string bench_table(const BenchResult& result);

}  // namespace rung
