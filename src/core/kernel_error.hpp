#pragma once

#include <stdexcept>

namespace rung {

/// A kernel that the device did not complete or, on the virtual GPU, a kernel with a hazard. what()
/// is one line: the device's message and the kernel.
struct KernelError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace rung
