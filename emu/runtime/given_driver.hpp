#pragma once
// A program may open the runtime library itself, and give it a driver in place of the virtual GPU
// inside it: `rung check` does, so that a function of the user's runs on the device that the rungs
// run on.

#include "core/cuda_driver/api.hpp"

namespace rung::emu {

struct GivenDriver {
  const cuda::DriverApi* api;
  /// Why the driver's last call in this thread failed; empty if the error code says it all.
  const char* (*message)();
};

// The library exports functions of these types and names. Both sides are from the same build.

/// Before any other call of the library; later calls change nothing.
using UseDriver = void(const GivenDriver* given);
inline constexpr const char* use_driver_name = "rung_emu_use_driver";

/// The primary context was reset: everything in it is gone.
using ForgetContext = void();
inline constexpr const char* forget_context_name = "rung_emu_forget_context";

}  // namespace rung::emu
