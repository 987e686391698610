#pragma once
// Launches in device code, for which clang has no syntax.

#include <string>

namespace rung::emu {

/// kernel<<<grid, block>>>(arguments), in a __global__ or __device__ function, becomes
/// RUNG_EMU_DEVICE_LAUNCH((kernel))(grid, block)(arguments): rung_emu/device_launch.h. In one that is
/// __host__, too, it becomes RUNG_EMU_LAUNCH_IN_BOTH((kernel), grid, block)(arguments), which stays a
/// launch for the host's compiler. Finds functions by their braces, so a launch that a macro writes
/// stays as it is.
std::string rewrite_device_launches(const std::string& text);

}  // namespace rung::emu
