#pragma once
// The PTX kernels that define a GPU's ceilings: only FMAs, or only loads.

#include <cstdint>
#include <string_view>

#include "backends/cuda/images.hpp"
#include "core/cuda_driver/types.hpp"
#include "core/element_types.hpp"

namespace rung {

/// For GPUs with compute capability 7.0 or later. The entry points are listed below.
const cuda::Unit& gpu_ceiling_module();

/// In every thread of a grid, `chains` independent accumulators start at 0, 1, 2, …; each iteration
/// computes x = x * one + one for each of them, `unroll` times. Stores the sum of the thread's
/// accumulators to sums[index of the thread in the grid].
struct GpuFmaKernel {
  const char* entry;
  int chains;
  int unroll;
  int element_bytes;

  double flops_per_iteration() const { return 2.0 * chains * unroll; }

  struct Argument {
    cuda::DevicePointer sums;
    std::int32_t iterations;
    std::int32_t one = 1;  // unknown to the compiler
  };
};

/// The kernel for the accumulation type of a dtype.
GpuFmaKernel gpu_fma_kernel(Dtype dtype);

/// Reads `pieces` pieces of 16 bytes, distributed over the threads of a grid. Stores the OR of the
/// bits that a thread has read to bits[index of the thread in the grid].
struct GpuReadKernel {
  const char* entry = "read";

  struct Argument {
    cuda::DevicePointer data, bits;
    std::int64_t pieces;
  };
};

}  // namespace rung
