#pragma once
// The driver that the library's GPU calls use.

#include <optional>
#include <string_view>

#include "backends/cuda/images.hpp"
#include "core/cuda_driver/api.hpp"

namespace rung::cuda {

struct Driver {
  const DriverApi* api;
  bool takes_cubin = true;
  std::optional<Code> wanted = {};  // if set, use only this form of a kernel
};

/// NVIDIA's driver, opened by the first call, or the one set by use_driver(). Throws rung::Error
/// (Status::unavailable), also in a child of fork() if the parent has called it.
const Driver& driver();

/// Replaces the driver, for tests and the bench; null restores NVIDIA's. Must not run concurrently
/// with other calls.
void use_driver(const Driver* other);

/// Throws rung::Error (Status::device_error), "rung: WHAT: CUDA_ERROR_…", unless the driver's
/// result is success, and std::bad_alloc if GPU memory is exhausted.
void require(const DriverApi& api, Result result, std::string_view what);

}  // namespace rung::cuda
