#pragma once
// The cost of a PTX instruction on an SM. Does not need machine code: rates and latencies are those
// of the PTX instruction, or of the sequence that ptxas generates for it.

#include <array>
#include <cstddef>

#include "vgpu/model/device.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::analysis::diagnosis {

/// The pipelines of an SM that execute warp instructions.
enum class Pipe : std::size_t {
  fp32,
  fp64,
  integer,   // additions, logic, shifts, comparisons and selections
  multiply,  // integer products, on the half of the FP32 units that can multiply integers
  conversion,
  special,
  memory,
  matrix,
  barrier,
  other
};
inline constexpr std::size_t pipe_count = 10;

struct InstructionCost {
  double slots = 1;  // number of machine instructions
  Pipe pipe = Pipe::other;
  double cycles = 0;   // of the pipeline, per warp
  double latency = 5;  // cycles until the result is available; for loads, it depends on the memory
  /// The pipe is Pipe::integer, or Pipe::multiply where that has less to do: ptxas writes additions and
  /// shifts by constants as products.
  bool is_balanced = false;
};

/// Sources: rates from the CUDA C++ Programming Guide, "Throughput of Native Arithmetic
/// Instructions"; latencies from Jia et al., 2018, and Luo et al., 2024.
InstructionCost cost_of(const vgpu::ptx::Instruction& instruction,
                        const vgpu::DeviceDescription& device);

/// A division, remainder, square root or similar instruction, implemented as a long sequence.
bool is_slow(const vgpu::ptx::Instruction& instruction);

/// True if nothing overlaps with the sequence that ptxas generates: it calls a function, or branches
/// to one for rare operands, as do those of floats. ptxas moves no
/// instruction across it, so that a division in a loop keeps later loads back.
bool runs_in_turn(const vgpu::ptx::Instruction& instruction);

/// A load from global memory that is not cached in L1.
bool bypasses_l1(const vgpu::ptx::Instruction& instruction);

}  // namespace rung::analysis::diagnosis
