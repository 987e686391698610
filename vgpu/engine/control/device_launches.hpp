#pragma once
// Launches by kernels (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism", "Device-side Launch
// from PTX"). They are queued here until the kernel has ended; then the driver runs them.

#include <vector>

#include "vgpu/memory/device_memory.hpp"
#include "vgpu/model/instr.hpp"
#include "vgpu/model/launch.hpp"

namespace rung::vgpu {

/// Returns the launches that kernels of a context have made since the last call, ordered by block
/// and, within a block, by launch. The caller must free their buffers.
std::vector<DeviceLaunch> take_device_launches(const DeviceMemory& memory);

/// Handlers of cudaGetParameterBufferV2 and cudaLaunchDeviceV2.
void run_get_parameter_buffer(Warp& warp, const Instr& instr);
void run_launch_device(Warp& warp, const Instr& instr);

}  // namespace rung::vgpu
