#pragma once

#include <stdexcept>

namespace rung {

/// Thrown if a kernel fails on a device, or if the virtual GPU detects a hazard in it. what() is
/// one line with the device's message and the kernel.
struct KernelError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace rung
