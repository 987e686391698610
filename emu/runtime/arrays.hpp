#pragma once
// The array that a cudaArray_t points to.

#include <memory>
#include <vector>

#include "core/cuda_driver/types.hpp"
#include "cuda_runtime_api.h"

struct cudaArray {
  cudaChannelFormatDesc format;
  cudaExtent extent;  // as it was asked for: 0 for a dimension that is not there
  unsigned flags;
  rung::cuda::DevicePointer data;
  std::size_t pitch, slice;  // bytes
};
