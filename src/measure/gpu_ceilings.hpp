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

/// Multiply-adds in registers on all of the GPU, of the type in which a dtype is summed. Throws
/// cuda::DriverError.
CeilingBatch gpu_fma_ceiling(cuda::Gpu& gpu, Dtype dtype);

/// Reads that much device memory, the same at every call: of a small one, the cache's rate. Throws
/// std::bad_alloc and cuda::DriverError.
CeilingBatch gpu_read_ceiling(cuda::Gpu& gpu, std::int64_t bytes);

/// Those of a GPU as a whole.
struct GpuCeilings {
  std::vector<std::pair<std::string, double>> multiply_add;  // "f32", "f64", "i32": GFLOP/s
  double memory_read;                                        // GB/s
};

/// Takes about half a second. Throws as above.
GpuCeilings measure_gpu_ceilings(cuda::Gpu& gpu);

}  // namespace rung
