#pragma once
// Which class of the instruction mix an instruction counts in.

#include "vgpu/model/counters.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// The class of any instruction, memory, control and barriers among them.
InstrClass classify(const ptx::Instruction& instruction);

}  // namespace rung::vgpu
