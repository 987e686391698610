#pragma once
// Matrix instructions on registers: mma.sync, wmma.mma, movmatrix (PTX ISA, 9.7.14).
//
// Numerics: products are exact. Those of types up to 16 bits and of tf32 are summed sequentially in
// f32, by ascending k, starting with C; a D of f16 is rounded once, at the end. Hardware sums
// several products at once and may truncate bits, so results agree only up to rounding in f32. f64
// is a chain of FMAs, and integers are exact.
//
// Not supported: f16 m8n8k4 (Volta), b1, sparse (mma.sp) and block-scaled forms.

#include <optional>

#include "vgpu/model/instr.hpp"
#include "vgpu/model/matrix_form.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Parses an mma.sync or wmma.mma; nothing for other instructions or unknown forms.
std::optional<MatrixForm> matrix_form(const ptx::Instruction& instruction);

/// The specification of a matrix instruction; nothing for others. All 32 lanes must take part;
/// missing lanes are reported.
std::optional<OpSpec> matrix(const ptx::Instruction& instruction);

}  // namespace rung::vgpu
