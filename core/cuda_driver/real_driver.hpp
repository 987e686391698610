#pragma once
// The NVIDIA driver of this machine, opened at run time, so that the program builds and runs
// without it.

#include <string>

#include "core/cuda_driver/api.hpp"

namespace rung::cuda {

/// The driver's functions, or the reason why they are not available.
struct RealDriver {
  const DriverApi* api = nullptr;
  std::string why_not;  // "no NVIDIA driver here (libcuda.so.1 not found)"
};

/// Opens the library once. If the driver fails to initialize or to count GPUs, the next call
/// retries.
RealDriver real_driver();

}  // namespace rung::cuda
