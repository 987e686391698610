#pragma once

#include "vgpu/model/native_operation.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// What the translator is to do for the instruction, if its operands have the width of its types.
Native native_operation(const ptx::Instruction& instruction);

}  // namespace rung::vgpu
