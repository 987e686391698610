#pragma once

#include <optional>

#include "vgpu/engine/matrix/matrix_memory.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// The form of an ldmatrix or stmatrix; nullopt if it is unknown.
std::optional<MatrixMove> matrix_move_form(const ptx::Instruction& instruction);

}  // namespace rung::vgpu
