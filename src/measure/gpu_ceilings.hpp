#pragma once
// A GPU's own limits, measured: how fast it multiplies and adds, how fast it reads its memory.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/gpu.hpp"
#include "core/dtype.hpp"
#include "measure/ceilings.hpp"

namespace rung {

/// Nothing but multiply-adds of a dtype's elements on all of the GPU, in each way that it has:
/// those of a thread in registers, and matrix units. Of bf16 and f16, the units alone where there
/// are any; of types for tensor cores alone, none where these do not have them.
/// Throws std::bad_alloc and cuda::DriverError.
std::vector<CeilingBatch> gpu_multiply_add_ceilings(cuda::Gpu& gpu, Dtype dtype);

/// Reads that much device memory, the same at every call: of a small one, the cache's rate. Throws
/// std::bad_alloc and cuda::DriverError.
CeilingBatch gpu_read_ceiling(cuda::Gpu& gpu, std::int64_t bytes);

/// Those of a GPU as a whole.
struct GpuCeilings {
  std::vector<std::pair<std::string, double>> multiply_add;  // by dtype, GFLOP/s
  double memory_read;                                        // GB/s
};

/// Takes a few seconds. Throws
/// as above.
GpuCeilings measure_gpu_ceilings(cuda::Gpu& gpu);

}  // namespace rung
