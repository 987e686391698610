#pragma once
// The handler that runs every form of matrix multiply-accumulate.

#include "vgpu/model/instr.hpp"

namespace rung::vgpu {

/// Instr::imm is a MatrixForm; the rows are the registers of D, A, B and C.
Handler matrix_handler();

}  // namespace rung::vgpu
