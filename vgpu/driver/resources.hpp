#pragma once
// Loaded functions: their resources, and the lookup of those that kernels launch.

#include <cstdint>
#include <memory>

#include "vgpu/driver/state.hpp"
#include "vgpu/occupancy.hpp"

namespace rung::vgpu::driver {

KernelResources resources_of(const FunctionState& function);

/// The kernel at an address returned by function_address(). Fails the call for other addresses.
std::shared_ptr<FunctionState> function_at(const std::shared_ptr<ModuleState>& module,
                                           std::uint64_t address);

}  // namespace rung::vgpu::driver
