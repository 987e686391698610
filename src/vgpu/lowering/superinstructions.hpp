#pragma once
// Instructions that one handler runs.

#include "vgpu/model/kernel.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Joins what can be joined of a basic block, whose code is the last of the kernel's and knows what
/// ptxas issues for it (MemoryOp::issued).
void form_superinstructions(Kernel& kernel, BasicBlock& block, const ptx::Function& function);

}  // namespace rung::vgpu
