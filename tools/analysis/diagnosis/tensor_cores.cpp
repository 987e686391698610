#include "tools/analysis/diagnosis/tensor_cores.hpp"

#include <algorithm>

#include "tools/analysis/kernel_trace.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::analysis::diagnosis {
namespace {

using vgpu::ptx::Instruction;

// The share of the tensor cores' peak that mma and wmma achieve on Hopper, for types of at most 32
// bits (Luo et al., 2024).
constexpr double mma_share = 0.62;
// The share that wgmma achieves with random elements from shared memory. They consume more power
// than the zeros or repeated elements in kernels that measure the peak.
constexpr double wgmma_share = 0.87;
// The share of the f64 peak that mma.m8n8k4 achieves on Hopper. Only larger shapes achieve the
// peak.
constexpr double small_f64_share = 0.5;
constexpr double warps_of_warpgroup = 4;

/// The element type of A and B.
Dtype multiplied_type(const Instruction& instruction) {
  if (instruction.has("e4m3")) return Dtype::e4m3;
  if (instruction.has("e5m2")) return Dtype::e5m2;
  if (instruction.has("s8") || instruction.has("u8")) return Dtype::i8;
  if (instruction.has("bf16")) return Dtype::bf16;
  if (instruction.has("tf32")) return Dtype::tf32;
  return instruction.has("f64") ? Dtype::f64 : Dtype::f16;
}

double multiply_adds_of_warp(const Instruction& instruction) {
  const MatrixShape shape = matrix_shape(instruction);
  const double all = static_cast<double>(shape.m) * shape.n * shape.k;
  return instruction.opcode == vgpu::ptx::Opcode::wgmma ? all / warps_of_warpgroup : all;
}

/// FLOP/s of a tcgen05.mma of this kind; 0 if the machine has no rate for the type.
double tcgen05_flops(const Instruction& instruction, const Machine& machine) {
  const bool is_4_bit = instruction.has("kind::mxf4") || instruction.has("kind::mxf4nvf4");
  const Dtype type = instruction.has("kind::f16")    ? Dtype::bf16
                     : instruction.has("kind::tf32") ? Dtype::tf32
                     : instruction.has("kind::i8")   ? Dtype::i8
                                                     : Dtype::e4m3;
  const auto found = machine.matrix_flops.find(type);
  if (found == machine.matrix_flops.end()) return 0;
  return is_4_bit ? 2 * found->second : found->second;
}

/// The achievable share of the peak.
double reached_share(const Instruction& instruction, Dtype type,
                     const vgpu::DeviceDescription& device) {
  if (instruction.opcode == vgpu::ptx::Opcode::wgmma) return wgmma_share;
  if (device.arch() < 90) return 1;
  if (type != Dtype::f64) return mma_share;
  return matrix_shape(instruction).m == 8 ? small_f64_share : 1;
}

}  // namespace

double tensor_core_cycles(const Instruction& instruction, const vgpu::DeviceDescription& device,
                          const Machine& machine) {
  if (!is_matrix_multiplication(instruction)) return 0;
  const Dtype type = multiplied_type(instruction);
  const auto found = machine.matrix_flops.find(type);
  if (found == machine.matrix_flops.end()) return 0;
  return multiply_adds_of_warp(instruction) / machine.multiply_adds_a_cycle(found->second) /
         reached_share(instruction, type, device);
}

double tcgen05_cycles(const Facts& facts) {
  double others = 0, slowest = 0;
  for (const SiteCount& site : facts.trace.sites) {
    const Instruction& instruction = *facts.instructions.at(site.ptx_line);
    if (!is_matrix_multiplication(instruction)) continue;
    if (instruction.opcode != vgpu::ptx::Opcode::tcgen05) {
      others += multiply_adds_of_warp(instruction) * static_cast<double>(site.executions);
      continue;
    }
    const double flops = tcgen05_flops(instruction, facts.machine);
    slowest = slowest == 0 ? flops : std::min(slowest, flops);
  }
  if (slowest == 0) return 0;
  const double all = static_cast<double>(facts.trace.counters.tensor_multiply_adds) - others;
  return all / facts.machine.multiply_adds_a_cycle(slowest) / wgmma_share;
}

}  // namespace rung::analysis::diagnosis
