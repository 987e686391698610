#pragma once
// Superinstructions: sequences of instructions that one handler runs.

#include "vgpu/model/kernel.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Forms superinstructions in a basic block, whose code must be the last of the kernel's, with
/// MemoryOp::issued already set.
void form_superinstructions(Kernel& kernel, BasicBlock& block, const ptx::Function& function);

}  // namespace rung::vgpu
