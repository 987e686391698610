#pragma once
// Metal's simdgroup_multiply_accumulate as an instruction: mma.simdgroup.f32.<type>.<type>.f32 D,
// A, B, C, with f32, f16 or bf16 for <type>. It is not PTX; the Metal headers emit it
// (src/vgpu/frontends/metal). All four matrices are 8x8, and lane i holds elements 2 i and 2 i + 1
// in row-major order, in two registers of f32 or in one of 32 bits.
//
// Numerics: A and B are exact in f32; products and sums are rounded to f32 one by one, by ascending
// k, starting with C. The numerics of Apple's hardware are not published.

#include <optional>

#include "vgpu/model/instr.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Nothing for other instructions.
std::optional<OpSpec> simdgroup_matrix(const ptx::Instruction& instruction);

}  // namespace rung::vgpu
