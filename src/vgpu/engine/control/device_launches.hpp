#pragma once
// Launches that kernels make (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism", "Device-side
// Launch from PTX"). They wait here until the kernel has ended; then the driver runs them.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vgpu/memory/device_memory.hpp"
#include "vgpu/model/instr.hpp"
#include "vgpu/model/launch.hpp"

namespace rung::vgpu {

struct DeviceLaunch {
  std::uint64_t kernel = 0;  // its address: function_address()
  Dim3 grid, block;
  std::uint32_t dynamic_shared = 0;  // bytes
  std::uint64_t parameters = 0;      // the buffer's address in device memory
  std::uint64_t stream = 0;
  std::uint64_t parent_block = 0;  // its linear index
};

/// Bytes of each parameter buffer: the most that a kernel takes.
inline constexpr std::size_t launch_buffer_bytes = 4096;

/// The launches made by the kernels of a context since the last call: those of a block in its
/// order, blocks in theirs. The caller frees their buffers.
std::vector<DeviceLaunch> take_device_launches(const DeviceMemory& memory);

/// The handlers of cudaGetParameterBufferV2 and cudaLaunchDeviceV2.
void run_get_parameter_buffer(Warp& warp, const Instr& instr);
void run_launch_device(Warp& warp, const Instr& instr);

}  // namespace rung::vgpu
