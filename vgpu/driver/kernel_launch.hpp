#pragma once
// Kernel launches that have been checked, and their runs.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "vgpu/driver/state.hpp"

namespace rung::vgpu::driver {

/// A launch with a copy of its arguments, as stored in a graph. Keeps the module loaded.
struct Launch {
  std::shared_ptr<FunctionState> function;
  std::shared_ptr<ModuleState> module;
  LaunchOptions options;
  std::vector<std::byte> parameters;
};

/// Throws Failure if the device or the function does not allow such a launch.
void check(const FunctionState& function, const LaunchOptions& options,
           std::span<const std::byte> parameters);

/// Runs a kernel, then the kernels that it has launched. `depth`: nesting level; 0 for launches by
/// the host.
void run(ContextState& context, const Launch& launch, int depth = 0);

}  // namespace rung::vgpu::driver
