#pragma once
// The driver that the library's GPU calls go to.

#include <optional>
#include <string_view>

#include "backends/cuda/images.hpp"
#include "cuda_driver/api.hpp"

namespace rung::cuda {

struct Driver {
  const DriverApi* api;
  bool takes_cubin = true;
  std::optional<Code> wanted = {};  // this form of a kernel or none
};

/// NVIDIA's, opened at the first call, or what use_driver() set. Throws rung::Error
/// (Status::unavailable), in a child of fork() too unless the parent had not called it.
const Driver& driver();

/// Another one from now on, for tests and the bench; null for NVIDIA's. Not while a call runs.
void use_driver(const Driver* other);

/// Throws rung::Error (Status::device_error) unless the driver's answer is success, and
/// std::bad_alloc if the GPU's memory does not suffice: "rung: WHAT: CUDA_ERROR_…".
void require(const DriverApi& api, Result result, std::string_view what);

}  // namespace rung::cuda
