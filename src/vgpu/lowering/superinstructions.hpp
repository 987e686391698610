#pragma once
// Superinstructions: sequences of instructions that one handler runs.

#include <cstdint>
#include <vector>

#include "vgpu/model/kernel.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Forms superinstructions in a basic block, whose code must be the last of the kernel's, with
/// MemoryOp::issued already set. `rows`: of registers, by their index.
void form_superinstructions(Kernel& kernel, BasicBlock& block, const ptx::Function& function,
                            const std::vector<std::uint32_t>& rows);

}  // namespace rung::vgpu
