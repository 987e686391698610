#pragma once
// PTX kernels that saturate a GPU's matrix units.

#include <cstdint>
#include <vector>

#include "backends/cuda/images.hpp"
#include "core/cuda_driver/types.hpp"
#include "core/element_types.hpp"

namespace rung {

/// Every warp (for wgmma, every warpgroup) multiplies the same small matrices repeatedly, and adds
/// the products to its accumulators. Each thread stores the sum of its accumulators to sums[index
/// of the thread in the grid].
struct GpuMatrixKernel {
  const cuda::Unit* module;
  const char* entry;
  double flops_per_iteration;  // per thread
  int element_bytes;           // of a sum
  std::int64_t block;          // number of threads
  std::int64_t blocks_per_multiprocessor;

  struct Argument {
    cuda::DevicePointer sums;
    std::int32_t iterations;
  };
};

/// All kernels that a GPU of that compute capability (times ten), whose driver supports that
/// version of CUDA (12040), has for a dtype; empty for f32 and i32, and for 8-bit floats without
/// wgmma.
///
/// mma.sync (since 8.0) multiplies matrices of ones: each iteration adds mma_unroll times the k of
/// its shape to each of mma_chains accumulators in each of its registers. wgmma (only 9.0)
/// multiplies random matrices from shared memory, so that the unit draws as much power as in real
/// use.
std::vector<GpuMatrixKernel> gpu_matrix_kernels(Dtype dtype, int arch, int cuda_version);

inline constexpr int mma_chains = 8;
inline constexpr int mma_unroll = 4;

}  // namespace rung
