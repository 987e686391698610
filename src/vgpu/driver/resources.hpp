#pragma once
// The resources of a loaded function.

#include "vgpu/driver/state.hpp"
#include "vgpu/occupancy.hpp"

namespace rung::vgpu::driver {

KernelResources resources_of(const FunctionState& function);

}  // namespace rung::vgpu::driver
