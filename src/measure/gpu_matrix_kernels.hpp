#pragma once
// The kernels that keep a GPU's matrix units busy, as PTX.

#include <cstdint>
#include <vector>

#include "backends/cuda/images.hpp"
#include "core/dtype.hpp"
#include "cuda_driver/types.hpp"

namespace rung {

/// Every warp (wgmma: every four) multiplies the same small matrices again and again, and adds the
/// products to accumulators of its own. The thread's sum of these goes to sums[its index in the
/// grid].
struct GpuMatrixKernel {
  const cuda::Image* image;
  const char* entry;
  double flops_per_iteration;  // of a thread
  int element_bytes;           // of a sum
  std::int64_t block;          // threads
  std::int64_t blocks_per_multiprocessor;

  struct Argument {
    cuda::DevicePointer sums;
    std::int32_t iterations;
  };
};

/// All that a GPU of that compute capability (times ten), whose driver is for that version of CUDA
/// (12040), has for a dtype; none for f32 and i32, nor for 8-bit floats without wgmma.
///
/// mma.sync (since 8.0) multiplies matrices of ones: each iteration adds mma_unroll times the k of
/// its shape to each of mma_chains accumulators in each of its registers. wgmma (9.0 alone)
/// multiplies random ones from shared memory, so that the unit draws as much power as it does at
/// work.
std::vector<GpuMatrixKernel> gpu_matrix_kernels(Dtype dtype, int arch, int cuda_version);

inline constexpr int mma_chains = 8;
inline constexpr int mma_unroll = 4;

}  // namespace rung
