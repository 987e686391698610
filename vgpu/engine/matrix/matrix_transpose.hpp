#pragma once
// movmatrix: transposes an 8x8 matrix in a warp's registers.

#include <optional>

#include "vgpu/model/instr.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// movmatrix.sync.aligned.m8n8.trans.b16 (PTX ISA, 9.7.14.5.17); nullopt for other instructions.
std::optional<OpSpec> matrix_transpose(const ptx::Instruction& instruction);
/// The handler of movmatrix. Row 0 receives the transpose of row 1.
Handler matrix_transpose_handler();

}  // namespace rung::vgpu
