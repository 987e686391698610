#pragma once
// movmatrix: the transpose of an 8x8 matrix that lies across a warp's registers.

#include <optional>

#include "vgpu/model/instr.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// movmatrix.sync.aligned.m8n8.trans.b16 (PTX ISA, 9.7.14.5.17); nothing if it is another.
std::optional<OpSpec> matrix_transpose(const ptx::Instruction& instruction);
/// Its handler: row 0 from row 1.
Handler matrix_transpose_handler();

}  // namespace rung::vgpu
