#pragma once
// The NVIDIA driver of this machine, opened at run time: nothing of it is needed to build or to run
// where there is none.

#include <string>

#include "cuda_driver/api.hpp"

namespace rung::cuda {

/// The driver's functions, or why there are none.
struct RealDriver {
  const DriverApi* api = nullptr;
  std::string why_not;  // "no NVIDIA driver here (libcuda.so.1 not found)"
};

/// Opened and initialised once.
const RealDriver& real_driver();

}  // namespace rung::cuda
