#pragma once
// The kernels whose speed is a GPU's ceiling, as PTX: nothing but multiply-adds, nothing but loads.

#include <cstdint>
#include <string_view>

#include "backends/cuda/images.hpp"
#include "core/dtype.hpp"
#include "cuda_driver/types.hpp"

namespace rung {

/// For a GPU of compute capability 7.0 or later. Its entries are named below.
const cuda::Image& gpu_ceiling_image();

/// Every thread of a grid: `chains` independent accumulators, which start at 0, 1, 2, …; in each
/// iteration, x = x * one + one for each, `unroll` times. The thread's sum of them goes to sums[its
/// index in the grid].
struct GpuFmaKernel {
  const char* entry;
  int chains;
  int unroll;
  int element_bytes;

  double flops_per_iteration() const { return 2.0 * chains * unroll; }

  struct Argument {
    cuda::DevicePointer sums;
    std::int32_t iterations;
    std::int32_t one = 1;  // which no compiler knows
  };
};

/// Of the type in which a dtype is summed.
GpuFmaKernel gpu_fma_kernel(Dtype dtype);

/// Reads `pieces` pieces of 16 bytes, shared out among the threads of a grid. The bits that are
/// set in any that a thread has read go to bits[its index in the grid].
struct GpuReadKernel {
  const char* entry = "read";

  struct Argument {
    cuda::DevicePointer data, bits;
    std::int64_t pieces;
  };
};

}  // namespace rung
