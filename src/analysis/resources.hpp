#pragma once
// What a kernel takes of a multiprocessor, and how many of its blocks that leaves room for.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/launch.hpp"
#include "vgpu/model/device.hpp"
#include "vgpu/occupancy.hpp"

namespace rung::analysis {

/// A kernel for one architecture, as ptxas reported it.
struct RecordedKernel {
  std::string entry;  // "gemm_cuda_05_vectors_f32"
  int arch = 0;       // compute capability times ten
  int registers = 0;  // of a thread
  std::int64_t static_shared = 0;
  std::int64_t spilled_bytes = 0;
};

/// What the build recorded (scripts/cuda_resources.py), as JSON: an array, empty where it had no
/// nvcc.
std::string_view resources_record();
const std::vector<RecordedKernel>& recorded_kernels();
/// Reads the same JSON. Throws json::ReadError for anything else.
std::vector<RecordedKernel> parse_resources(std::string_view text);

struct Registers {
  int count = 0;
  std::int64_t spilled_bytes = 0;
  std::string source;  // where the count comes from
};

/// From ptxas, for exactly that architecture, where it is installed; else from the build's record
/// of the nearest one; else the virtual GPU's estimate.
Registers registers_of(std::string_view ptx, const std::string& entry,
                       const vgpu::DeviceDescription& device);
/// The build's record alone; nothing if it has none of that entry.
std::optional<Registers> recorded_registers(const std::string& entry, int arch);

/// "registers", "shared memory", "warps", "blocks" or "barriers": the first that allows no more
/// blocks.
std::string binding_limit(const vgpu::Occupancy& occupancy);

/// Of a launch with so many threads a block and so much shared memory.
vgpu::Occupancy occupancy_of(const vgpu::DeviceDescription& device, int registers, int threads,
                             std::int64_t static_shared, std::int64_t dynamic_shared);

}  // namespace rung::analysis
