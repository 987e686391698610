#include "tools/analysis/diagnosis/instruction_cost.hpp"

#include <algorithm>

#include "vgpu/program/instruction_class.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::analysis::diagnosis {
namespace {

using vgpu::InstrClass;
using vgpu::ptx::Instruction;
using vgpu::ptx::Opcode;

constexpr double warp = 32;

/// FP64 lanes of an SM.
double fp64_lanes(int arch) { return arch == 80 ? 32 : arch == 90 ? 64 : 2; }

bool is_wide(const Instruction& instruction) {
  return instruction.has("f64") || instruction.has("s64") || instruction.has("u64");
}

bool is_float(const Instruction& instruction) {
  return instruction.has("f32") || instruction.has("f64");
}

/// The number of machine instructions that ptxas generates for one PTX instruction, and their
/// latency when executed alone. Measured on an H200 (docs/notes/virtual-gpu.md), except for
/// 64-bit sequences, whose instructions were counted in the output of ptxas.
struct Sequence {
  double slots = 1, latency = 0;
};

Sequence sequence_of(const Instruction& instruction) {
  if (instruction.is(Opcode::div, Opcode::rem) && !is_float(instruction)) {
    return is_wide(instruction) ? Sequence{120, 400} : Sequence{16, 64};
  }
  if (is_wide(instruction)) return {25, 125};
  return instruction.is(Opcode::div) ? Sequence{13, 44} : Sequence{10, 43};
}

}  // namespace

bool is_slow(const Instruction& instruction) {
  if (instruction.has("approx") || instruction.has("full")) return false;
  return instruction.is(Opcode::div, Opcode::rem, Opcode::sqrt, Opcode::rcp, Opcode::rsqrt);
}

bool runs_in_turn(const Instruction& instruction) {
  return is_slow(instruction) && is_wide(instruction);
}

bool bypasses_l1(const Instruction& instruction) {
  return instruction.has("volatile") || instruction.has("cg");
}

InstructionCost cost_of(const Instruction& instruction, const vgpu::DeviceDescription& device) {
  const int arch = device.arch();
  InstructionCost cost;
  const double fp64 = warp / fp64_lanes(arch);
  const double f64_conversion = warp / std::min(16.0, fp64_lanes(arch));
  const auto on = [&](Pipe pipe, double cycles, double latency) {
    cost.pipe = pipe;
    cost.cycles = cycles;
    cost.latency = latency;
  };
  switch (vgpu::classify(instruction)) {
    case InstrClass::fp32: on(Pipe::fp32, warp / device.fp32_lanes_per_multiprocessor, 5); break;
    case InstrClass::fp16: on(Pipe::fp32, warp / device.fp32_lanes_per_multiprocessor, 6); break;
    case InstrClass::fp64: on(Pipe::fp64, fp64, fp64_lanes(arch) > 2 ? 9 : 2 * fp64); break;
    case InstrClass::integer:
    case InstrClass::logic: on(Pipe::integer, 0.5, 5); break;
    case InstrClass::conversion:
      on(Pipe::conversion, instruction.has("f64") ? f64_conversion : 0.5, 8);
      break;
    case InstrClass::special_function: on(Pipe::special, 2, 20); break;
    case InstrClass::warp: on(Pipe::special, 1, 25); break;
    case InstrClass::matrix: on(Pipe::matrix, 0, 33); break;
    case InstrClass::barrier: on(Pipe::barrier, instruction.has("warp") ? 0 : 2, 30); break;
    case InstrClass::move: cost.latency = 0; break;  // most are only register renames
    default: break;
  }
  if (is_slow(instruction)) {
    const auto [slots, latency] = sequence_of(instruction);
    cost.slots = slots;
    cost.latency = latency;
    if (cost.pipe == Pipe::special) {
      // One instruction of the sequence uses the special function unit; the others are
      // multiply-adds.
      if (is_wide(instruction)) on(Pipe::fp64, slots * fp64 / 2, latency);
    } else {
      // Half of an integer division's sequence are multiplications, which execute on the FP32
      // units.
      cost.cycles *= slots * (is_float(instruction) ? 1 : 0.5);
    }
  }
  return cost;
}

}  // namespace rung::analysis::diagnosis
