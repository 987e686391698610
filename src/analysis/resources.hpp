#pragma once
// The resources of a kernel, and the occupancy that they allow.

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
  int registers = 0;  // per thread
  std::int64_t static_shared = 0;
  std::int64_t spilled_bytes = 0;
};

/// The record of the build (scripts/cuda_resources.py), as JSON: an array, empty without nvcc.
std::string_view resources_record();
const std::vector<RecordedKernel>& recorded_kernels();
/// Reads the same JSON. Throws json::ReadError for anything else.
std::vector<RecordedKernel> parse_resources(std::string_view text);

struct Registers {
  int count = 0;
  std::int64_t spilled_bytes = 0;
  std::string source;  // the source of the count
};

/// From ptxas for exactly that architecture, if installed; otherwise from the build's record for
/// the nearest one; otherwise the virtual GPU's estimate.
Registers registers_of(std::string_view ptx, const std::string& entry,
                       const vgpu::DeviceDescription& device);
/// Only from the build's record; empty if it lacks the entry.
std::optional<Registers> recorded_registers(const std::string& entry, int arch);

/// "registers", "shared memory", "warps", "blocks" or "barriers": the first limit that is binding.
std::string binding_limit(const vgpu::Occupancy& occupancy);

/// For a launch with that many threads per block, and that much shared memory.
vgpu::Occupancy occupancy_of(const vgpu::DeviceDescription& device, int registers, int threads,
                             std::int64_t static_shared, std::int64_t dynamic_shared);

}  // namespace rung::analysis
