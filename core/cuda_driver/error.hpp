#pragma once
// Converts the driver's results to exceptions.

#include <stdexcept>
#include <string>
#include <string_view>

#include "core/cuda_driver/api.hpp"

namespace rung::cuda {

/// what() is, for example, "cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX (a PTX JIT compilation
/// failed)".
struct DriverError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The name and text of a result: "CUDA_ERROR_INVALID_PTX (a PTX JIT compilation failed)".
std::string describe(const DriverApi& api, Result result);

/// Throws std::bad_alloc if device memory is exhausted, and DriverError if the named call failed
/// for another reason.
void check(const DriverApi& api, Result result, std::string_view call);

}  // namespace rung::cuda
