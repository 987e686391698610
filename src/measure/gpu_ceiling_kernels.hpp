#pragma once
// The PTX kernels that define a GPU's ceilings: only FMAs, or only loads.

#include <cstdint>
#include <string_view>

#include "backends/cuda/images.hpp"
#include "core/dtype.hpp"
#include "cuda_driver/types.hpp"

namespace rung {

/// For a GPU of compute capability 7.0 or later. Its entries are named below.
const cuda::Unit& gpu_ceiling_module();

/// In every thread of a grid: `chains` independent accumulators start at 0, 1, 2, …; each iteration
/// computes x = x * one + one for each of them, `unroll` times. The thread's sum of them is stored
/// to sums[its index in the grid].
struct GpuFmaKernel {
  const char* entry;
  int chains;
  int unroll;
  int element_bytes;

  double flops_per_iteration() const { return 2.0 * chains * unroll; }

  struct Argument {
    cuda::DevicePointer sums;
    std::int32_t iterations;
    std::int32_t one = 1;  // which the compiler does not know
  };
};

/// For the accumulator type of a dtype.
GpuFmaKernel gpu_fma_kernel(Dtype dtype);

/// Reads `pieces` pieces of 16 bytes, divided among the threads of a grid. The OR of the bits that
/// a thread has read is stored to bits[its index in the grid].
struct GpuReadKernel {
  const char* entry = "read";

  struct Argument {
    cuda::DevicePointer data, bits;
    std::int64_t pieces;
  };
};

}  // namespace rung
