#pragma once
// The class of an instruction in the instruction mix.

#include "vgpu/model/counters.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Returns the class of any instruction, including memory, control flow and barriers.
InstrClass classify(const ptx::Instruction& instruction);

}  // namespace rung::vgpu
