#pragma once
// Metal's simdgroup_multiply_accumulate, as an instruction: mma.simdgroup.f32.<type>.<type>.f32 D,
// A, B, C, with f32, f16 or bf16 for <type>. No PTX has it; the Metal headers write it
// (src/vgpu/frontends/metal). All four matrices are 8x8, and lane i holds elements 2 i and 2 i + 1,
// row by row: in two registers of f32, or in one of 32 bits.
//
// Numerics: A and B are exact in f32; products and sums are rounded to f32 one by one, by ascending
// k, beginning with C. What Apple's hardware does is not published.

#include <optional>

#include "vgpu/model/instr.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Nothing if the instruction is another one.
std::optional<OpSpec> simdgroup_matrix(const ptx::Instruction& instruction);

}  // namespace rung::vgpu
