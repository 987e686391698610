#pragma once
// Measured limits of a GPU: FMA throughput and memory bandwidth.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/gpu.hpp"
#include "core/element_types.hpp"
#include "tools/measure/ceilings.hpp"

namespace rung {

/// FMAs of a dtype on the whole GPU by each supported method: FMA instructions of threads in
/// registers, and matrix units. For bf16 and f16, only matrix units if available. Empty for
/// tensor-core types that the GPU does not support. Throws std::bad_alloc and cuda::DriverError.
std::vector<CeilingBatch> gpu_multiply_add_ceilings(cuda::Gpu& gpu, Dtype dtype);

/// Reads this amount of device memory, the same in each call; if small, measures the cache. Throws
/// std::bad_alloc and cuda::DriverError.
CeilingBatch gpu_read_ceiling(cuda::Gpu& gpu, std::int64_t bytes);

/// The ceilings of a GPU.
struct GpuCeilings {
  std::vector<std::pair<std::string, double>> multiply_add;  // by dtype, GFLOP/s
  double memory_read;                                        // GB/s
};

/// Takes a few seconds. Throws std::bad_alloc and cuda::DriverError.
GpuCeilings measure_gpu_ceilings(cuda::Gpu& gpu);

}  // namespace rung
