#pragma once
// Launches in device code, for which clang has no syntax.

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "emu/kernel_launchers.hpp"
#include "emu/launch_macros.hpp"

namespace rung::emu {

/// What launches in device code may name, in all sources and headers of a program.
struct DeviceLaunches {
  DeviceLaunches() = default;
  explicit DeviceLaunches(const std::map<std::string, std::string>& files);

  LaunchMacroNames macros;
  KernelLaunchers kernels;
};

/// kernel<<<grid, block>>>(arguments), in a __global__ or __device__ function, becomes
/// RUNG_EMU_DEVICE_LAUNCH((kernel))(grid, block)(arguments): rung_emu/device_launch.h. In one that is
/// __host__, too, it becomes RUNG_EMU_LAUNCH_IN_BOTH((kernel), grid, block)(arguments), which stays a
/// launch for the host's compiler. Kernels that need it are launched by a function beside them. Macros
/// that launch get other names there, and are defined a second time by these. Finds functions by
/// their braces.
std::string rewrite_device_launches(const std::string& text, const DeviceLaunches& known = {},
                                    const std::string& file = "");

/// Calls `launch` with the name of each kernel that device code, or a macro, launches, and the number
/// of template arguments that follow it.
void for_each_device_launch(std::string_view text,
                            const std::function<void(std::string_view, std::size_t)>& launch);

}  // namespace rung::emu
