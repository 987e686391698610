#pragma once
// Matrix instructions on registers: mma.sync, wmma.mma, movmatrix (PTX ISA, 9.7.14).
//
// Numerics: products of floats up to tf32 are summed bit for bit as on an H200
// (tensor_core_sums.hpp), whatever the GPU model. f64 is a chain of FMAs, and integers are exact.
//
// Forms with .kind are in narrow_multiply.hpp. Not supported: f16 m8n8k4 (Volta), b1 and sparse forms (mma.sp).

#include <optional>

#include "vgpu/model/instr.hpp"
#include "vgpu/model/matrix_form.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Parses an mma.sync or wmma.mma. Returns nullopt for other instructions and unknown forms.
std::optional<MatrixForm> matrix_form(const ptx::Instruction& instruction);

/// The specification of a matrix instruction; nullopt for others. All 32 lanes must execute it;
/// missing lanes are reported.
std::optional<OpSpec> matrix(const ptx::Instruction& instruction);

}  // namespace rung::vgpu
