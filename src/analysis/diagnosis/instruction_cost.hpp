#pragma once
// What an instruction of the PTX costs an SM. Machine code is not needed: rates and latencies are
// those of the PTX instruction, or of the sequence that ptxas makes of it.

#include <array>
#include <cstddef>

#include "vgpu/model/device.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::analysis::diagnosis {

/// The units of an SM that execute warp instructions.
enum class Pipe : std::size_t {
  fp32,
  fp64,
  integer,
  conversion,
  special,
  memory,
  matrix,
  barrier,
  other
};
inline constexpr std::size_t pipe_count = 9;

struct InstructionCost {
  double slots = 1;  // machine instructions that it becomes
  Pipe pipe = Pipe::other;
  double cycles = 0;   // of that pipe, for one warp
  double latency = 5;  // cycles until its result can be used; of loads it depends on the memory
};

/// Rates: CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions". Latencies:
/// Jia et al., 2018; Luo et al., 2024.
InstructionCost cost_of(const vgpu::ptx::Instruction& instruction,
                        const vgpu::DeviceDescription& device);

/// A division, remainder, square root or the like, which becomes a long sequence.
bool is_slow(const vgpu::ptx::Instruction& instruction);

/// A load from global memory that L1 does not keep.
bool bypasses_l1(const vgpu::ptx::Instruction& instruction);

}  // namespace rung::analysis::diagnosis
