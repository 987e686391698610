#pragma once
// The GPU of rung bench.

#include <cstdio>
#include <optional>
#include <vector>

#include "backends/backend.hpp"
#include "tools/measure/gpu_environment.hpp"

namespace rung {

/// Measures the CUDA GPU among the backends, if any, and prints a summary.
std::optional<GpuEnvironment> measure_gpu(const std::vector<const Backend*>& backends,
                                          std::FILE* out);

}  // namespace rung
