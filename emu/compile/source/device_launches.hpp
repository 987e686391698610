#pragma once
// Launches in device code, for which clang has no syntax.

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "emu/compile/source/kernel_launchers.hpp"
#include "emu/compile/source/launch_macros.hpp"
#include "emu/compile/source/source_text.hpp"

namespace rung::emu {

/// The macros and kernels that launches in device code may name, in all files of a program.
struct DeviceLaunches {
  DeviceLaunches() = default;
  explicit DeviceLaunches(const std::map<std::string, std::string>& files);

  LaunchMacroNames macros;
  KernelLaunchers kernels;
};

/// kernel<<<grid, block>>>(arguments), in a __global__ or __device__ function, becomes
/// RUNG_EMU_DEVICE_LAUNCH((kernel))(grid, block)(arguments): rung_emu/device_launch.h. In a function that is
/// also __host__ it becomes RUNG_EMU_LAUNCH_IN_BOTH((kernel), grid, block)(arguments), which the host's
/// compiler sees as a launch. Kernels that KernelLaunchers knows are launched by the function next to
/// them. Macros that launch get a second definition, with another name, for device code.
Edits rewrite_device_launches(const SourceText& source, const DeviceLaunches& known = {},
                              const std::string& file = "");

/// Calls `launch` with the name of each kernel that device code, or a macro, launches, and the number
/// of template arguments that follow it.
void for_each_device_launch(std::string_view text,
                            const std::function<void(std::string_view, std::size_t)>& launch);

}  // namespace rung::emu
