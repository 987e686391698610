#pragma once
// Launches that kernels make (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism", "Device-side
// Launch from PTX"). They wait here until the kernel has ended; then the driver runs them.

#include <vector>

#include "vgpu/memory/device_memory.hpp"
#include "vgpu/model/instr.hpp"
#include "vgpu/model/launch.hpp"

namespace rung::vgpu {

/// The launches made by the kernels of a context since the last call: those of a block in its
/// order, blocks in theirs. The caller frees their buffers.
std::vector<DeviceLaunch> take_device_launches(const DeviceMemory& memory);

/// The handlers of cudaGetParameterBufferV2 and cudaLaunchDeviceV2.
void run_get_parameter_buffer(Warp& warp, const Instr& instr);
void run_launch_device(Warp& warp, const Instr& instr);

}  // namespace rung::vgpu
