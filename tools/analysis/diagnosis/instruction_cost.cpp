#include "tools/analysis/diagnosis/instruction_cost.hpp"

#include <algorithm>
#include <string_view>

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

/// True for a conversion from a float to an integer.
bool is_integer_of_float(const Instruction& instruction) {
  const auto is_float_type = [](std::string_view type) {
    return type.starts_with("f") || type.starts_with("bf");
  };
  if (instruction.modifiers.size() < 2) return false;
  const std::string_view to = instruction.modifiers[instruction.modifiers.size() - 2];
  const bool is_integer = to.starts_with("s") || to.starts_with("u");
  return is_integer && is_float_type(instruction.modifiers.back());
}

/// The number of machine instructions that ptxas generates for one PTX instruction, and their
/// latency when executed alone. Measured on an H200 (docs/notes/virtual-gpu.md), except for
/// 64-bit sequences, whose instructions were counted in the output of ptxas.
struct Sequence {
  double slots = 1, latency = 0;
};

Sequence sequence_of(const Instruction& instruction) {
  if (instruction.is(Opcode::div, Opcode::rem) && !is_float(instruction)) {
    return is_wide(instruction) ? Sequence{120, 400} : Sequence{20, 70};
  }
  if (is_wide(instruction)) return {25, 125};
  return instruction.is(Opcode::div) ? Sequence{13, 44} : Sequence{10, 43};
}

bool has_64_bits(const Instruction& instruction) {
  return is_wide(instruction) || instruction.has("b64");
}

/// Instructions of integers, by rates and latencies of an H200 (docs/notes/virtual-gpu.md).
InstructionCost integer_cost(const Instruction& instruction) {
  InstructionCost cost{1, Pipe::integer, 0.5, 5};
  const bool wide = has_64_bits(instruction);
  const auto times = [&](double count) {
    cost.slots = count;
    cost.cycles *= count;
  };
  if (instruction.has("pred")) return cost;
  switch (instruction.opcode) {
    case Opcode::mul:
    case Opcode::mad:
      if (instruction.has("hi"))
        return wide ? InstructionCost{8, Pipe::multiply, 4.1, 34}
                    : InstructionCost{1, Pipe::multiply, 1, 10};
      if (wide && !instruction.has("wide")) return {4, Pipe::multiply, 2.1, 18};
      return {1, Pipe::multiply, instruction.has("wide") ? 1.0 : 0.5, 5};
    case Opcode::popc:
    case Opcode::brev: return {1, Pipe::special, 2, 18};
    case Opcode::clz:
    case Opcode::bfind: return {2, Pipe::special, 2, 24};
    case Opcode::min:
    case Opcode::max:
      if (wide) times(4), cost.latency = 13;
      return cost;
    case Opcode::bfe:
    case Opcode::bfi: times(2), cost.latency = 9; return cost;
    case Opcode::add:
    case Opcode::sub: cost.is_balanced = true; break;
    case Opcode::shl:
      cost.is_balanced =
          !wide && instruction.operands.back().kind == vgpu::ptx::Operand::Kind::immediate;
      break;
    default: break;
  }
  if (wide) times(2), cost.latency = 7;
  return cost;
}

}  // namespace

bool is_slow(const Instruction& instruction) {
  if (instruction.has("approx") || instruction.has("full")) return false;
  return instruction.is(Opcode::div, Opcode::rem, Opcode::sqrt, Opcode::rcp, Opcode::rsqrt);
}

bool runs_in_turn(const Instruction& instruction) {
  return is_slow(instruction) && (is_wide(instruction) || is_float(instruction));
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
    case InstrClass::fp32:
      on(Pipe::fp32, warp / device.fp32_lanes_per_multiprocessor, 5);
      if (instruction.is(Opcode::min, Opcode::max, Opcode::setp)) on(Pipe::integer, 0.5, 5);
      break;
    case InstrClass::fp16: on(Pipe::fp32, warp / device.fp32_lanes_per_multiprocessor, 6); break;
    case InstrClass::fp64: on(Pipe::fp64, fp64, fp64_lanes(arch) > 2 ? 9 : 2 * fp64); break;
    case InstrClass::integer:
    case InstrClass::logic: cost = integer_cost(instruction); break;
    case InstrClass::conversion:
      on(Pipe::conversion, instruction.has("f64") ? f64_conversion : 0.5, 8);
      if (is_integer_of_float(instruction)) on(Pipe::special, 2, 18);
      break;
    case InstrClass::special_function: on(Pipe::special, 2, 20); break;
    case InstrClass::warp:
      on(Pipe::special, 1, 25);
      if (instruction.opcode == Opcode::redux) on(Pipe::special, 2, 45);
      if (instruction.opcode == Opcode::match) on(Pipe::special, 64, 368);
      break;
    case InstrClass::matrix: on(Pipe::matrix, 0, 33); break;
    case InstrClass::barrier: on(Pipe::barrier, instruction.has("warp") ? 0 : 2, 30); break;
    case InstrClass::move:
      if (instruction.is(Opcode::selp, Opcode::prmt, Opcode::slct)) {
        on(Pipe::integer, 0.5, 5);
      } else {
        cost.latency = 0;  // most are only register renames
      }
      break;
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
      cost.cycles = slots * (is_float(instruction) ? cost.cycles : 0.25);
      cost.is_balanced = false;
    }
  }
  return cost;
}

}  // namespace rung::analysis::diagnosis
