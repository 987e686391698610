#pragma once
// Metal's simdgroup_multiply_accumulate as an instruction: mma.simdgroup.f32.<type>.<type>.f32 D,
// A, B, C, with f32, f16 or bf16 for <type>. It is not PTX; the Metal headers emit it (emu/metal).
// All four matrices are 8x8. Lane l holds columns 4 (l / 8 % 2) + 2 (l % 2) and the next of row
// 4 (l / 16) + l / 2 % 4, as on Apple's GPUs, in two f32 registers or one 32-bit register.
//
// Numerics: A and B are exact in f32. Each product and each sum is rounded to f32, in ascending
// order of k, starting from C. The numerics of Apple's hardware are not published.

#include <optional>

#include "vgpu/model/instr.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Returns nullopt for other instructions.
std::optional<OpSpec> simdgroup_matrix(const ptx::Instruction& instruction);

}  // namespace rung::vgpu
