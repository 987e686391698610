#pragma once

#include <stdexcept>

namespace rung {

/// A kernel that the device did not run to its end or, on the virtual GPU, one with a hazard. One
/// line: what the device says, and of which kernel.
struct KernelError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace rung
