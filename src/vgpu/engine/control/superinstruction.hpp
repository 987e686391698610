#pragma once
// Superinstructions: several instructions that one handler runs.

#include "vgpu/model/kernel.hpp"

namespace rung::vgpu {

/// The instruction that runs `super`, which must outlive it.
Instr run_by_one_handler(const Superinstruction& super);

}  // namespace rung::vgpu
