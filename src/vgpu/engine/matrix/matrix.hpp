#pragma once
// Matrix instructions on registers: mma.sync, wmma.mma, movmatrix (PTX ISA, 9.7.14).
//
// Numerics: products are exact. Those of types up to 16 bits and of tf32 are summed in f32, one
// after the other by ascending k, beginning with C; a D of f16 is rounded once, at the end.
// Hardware sums several products at once and may cut bits off: results agree to the rounding of
// f32. f64 is a chain of fused multiply-adds, integers are exact.
//
// Not here: f16 m8n8k4 (Volta's), b1, sparse (mma.sp) and block-scaled forms.

#include <optional>

#include "vgpu/model/instr.hpp"
#include "vgpu/model/matrix_form.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// What mma.sync or wmma.mma computes; nothing if it is another instruction or has no such form.
std::optional<MatrixForm> matrix_form(const ptx::Instruction& instruction);

/// How to run a matrix instruction; nothing if it is none of those. All 32 lanes take part: it is
/// reported if some do not.
std::optional<OpSpec> matrix(const ptx::Instruction& instruction);

}  // namespace rung::vgpu
