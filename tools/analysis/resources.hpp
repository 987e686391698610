#pragma once
// The resources of a kernel, and its occupancy.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analysis/machine_code.hpp"
#include "vgpu/launch.hpp"
#include "vgpu/model/device.hpp"
#include "vgpu/occupancy.hpp"

namespace rung::analysis {

/// A kernel for one architecture, as reported by ptxas.
struct RecordedKernel {
  std::string entry;  // "gemm_cuda_05_vectors_f32"
  int arch = 0;       // compute capability times ten
  int registers = 0;  // per thread
  std::int64_t static_shared = 0;
  std::int64_t spilled_bytes = 0;
};

/// The build's record (scripts/cuda_resources.py), as JSON: an array, empty without nvcc.
std::string_view resources_record();
const std::vector<RecordedKernel>& recorded_kernels();
/// Parses this JSON. Throws json::ReadError if it is malformed.
std::vector<RecordedKernel> parse_resources(std::string_view text);

struct Registers {
  int count = 0;
  std::int64_t spilled_bytes = 0;
  std::string source;                              // of the count
  std::int64_t frame_bytes = 0;                    // local memory per thread; 0 if unknown
  std::optional<CodeByDepth> code = std::nullopt;  // if ptxas compiled the kernel now
};

/// The registers from ptxas for exactly this architecture, if installed; otherwise from the build's
/// record for the nearest architecture; otherwise an estimate by the virtual GPU.
Registers registers_of(std::string_view ptx, const std::string& entry,
                       const vgpu::DeviceDescription& device);
/// True if ptxas is installed and spills with at most `registers` per thread.
bool spills_if_limited(std::string_view ptx, const std::string& entry, int arch, int registers);
/// The registers from the build's record; empty if it lacks the entry.
std::optional<Registers> recorded_registers(const std::string& entry, int arch);

/// The first binding limit: "registers", "shared memory", "warps", "blocks" or "barriers".
std::string binding_limit(const vgpu::Occupancy& occupancy);

/// The occupancy of a launch with this number of threads per block and this amount of shared memory
/// in bytes.
vgpu::Occupancy occupancy_of(const vgpu::DeviceDescription& device, int registers, int threads,
                             std::int64_t static_shared, std::int64_t dynamic_shared);

}  // namespace rung::analysis
