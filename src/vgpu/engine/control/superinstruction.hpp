#pragma once
// Superinstructions: several instructions that one handler runs.

#include "vgpu/model/kernel.hpp"

namespace rung::vgpu {

/// The instruction that runs `super`, which must outlive it.
Instr run_by_one_handler(const Superinstruction& super);
/// The instruction that runs all of the basic block `loop`, whose addresses must not change.
Instr run_by_one_handler(const Loop& loop);

}  // namespace rung::vgpu
