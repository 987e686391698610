#pragma once
// The driver behind the library's GPU calls.

#include <optional>
#include <string_view>

#include "backends/cuda/images.hpp"
#include "cuda_driver/api.hpp"

namespace rung::cuda {

struct Driver {
  const DriverApi* api;
  bool takes_cubin = true;
  std::optional<Code> wanted = {};  // use only this form of a kernel
};

/// NVIDIA's, opened at the first call, or what use_driver() set. Throws rung::Error
/// (Status::unavailable), in a child of fork() too unless the parent had not called it.
const Driver& driver();

/// Replaces the driver, for tests and the bench; null restores NVIDIA's. Must not be called while
/// another call runs.
void use_driver(const Driver* other);

/// Throws rung::Error (Status::device_error), "rung: WHAT: CUDA_ERROR_…", unless the driver's
/// result is success, and std::bad_alloc if GPU memory is exhausted.
void require(const DriverApi& api, Result result, std::string_view what);

}  // namespace rung::cuda
