#pragma once
// The measured limits of a GPU: FMAs and memory bandwidth.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/gpu.hpp"
#include "core/dtype.hpp"
#include "measure/ceilings.hpp"

namespace rung {

/// Only FMAs of a dtype's elements on the whole GPU, by each method that it supports: FMAs of
/// threads in registers, and matrix units. For bf16 and f16, only matrix units if there are any.
/// Empty for tensor-core types that the GPU does not support. Throws std::bad_alloc and
/// cuda::DriverError.
std::vector<CeilingBatch> gpu_multiply_add_ceilings(cuda::Gpu& gpu, Dtype dtype);

/// Reads that much device memory, the same in every call: for a small size, the rate of the cache.
/// Throws std::bad_alloc and cuda::DriverError.
CeilingBatch gpu_read_ceiling(cuda::Gpu& gpu, std::int64_t bytes);

/// The ceilings of a whole GPU.
struct GpuCeilings {
  std::vector<std::pair<std::string, double>> multiply_add;  // by dtype, GFLOP/s
  double memory_read;                                        // GB/s
};

/// Takes a few seconds. Throws as above.
GpuCeilings measure_gpu_ceilings(cuda::Gpu& gpu);

}  // namespace rung
