#pragma once
// The GPU environment to publish with a measurement, in addition to Environment.

#include <cstdint>
#include <string>

#include "backends/cuda/gpu.hpp"
#include "tools/measure/gpu_ceilings.hpp"
#include "tools/measure/nvml.hpp"

namespace rung {

struct GpuEnvironment {
  std::string name;
  int arch;          // compute capability times ten
  int cuda_version;  // of the driver: 13000
  int multiprocessors;
  std::int64_t memory_bytes;
  std::int64_t l2_bytes;
  double peak_bandwidth;  // bytes/s, from memory clock and bus width; 0 if unknown
  NvmlFacts nvml;         // after measuring the ceilings: clocks under load
  GpuCeilings ceilings;
};

/// Measures the ceilings. Throws std::bad_alloc and cuda::DriverError.
GpuEnvironment gpu_environment(cuda::Gpu& gpu);

}  // namespace rung
