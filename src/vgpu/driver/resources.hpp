#pragma once
// What a loaded function takes of a multiprocessor.

#include "vgpu/driver/state.hpp"
#include "vgpu/occupancy.hpp"

namespace rung::vgpu::driver {

KernelResources resources_of(const FunctionState& function);

}  // namespace rung::vgpu::driver
