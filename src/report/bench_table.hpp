#pragma once
// A bench for the reader at a terminal.

#include <string>

#include "measure/bench.hpp"

namespace rung {

/// "gemm f32 512x512x512 nn", "dot f32 1000".
std::string describe(const BenchResult& result);

/// What was run and how, the table, the noise, and a line of verdict for each rung.
std::string bench_table(const BenchResult& result);

}  // namespace rung
