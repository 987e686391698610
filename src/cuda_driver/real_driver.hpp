#pragma once
// The NVIDIA driver of this machine, opened at run time: it is needed neither to build nor to run
// the program.

#include <string>

#include "cuda_driver/api.hpp"

namespace rung::cuda {

/// The driver's functions, or why they are not available.
struct RealDriver {
  const DriverApi* api = nullptr;
  std::string why_not;  // "no NVIDIA driver here (libcuda.so.1 not found)"
};

/// Opened and initialised once.
const RealDriver& real_driver();

}  // namespace rung::cuda
