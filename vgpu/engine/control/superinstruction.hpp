#pragma once
// Superinstructions: several instructions run by one handler.

#include "vgpu/model/kernel.hpp"

namespace rung::vgpu {

/// Returns the instruction that runs `super`, which must outlive it.
Instr run_by_one_handler(const Superinstruction& super);
/// Returns the instruction that runs the whole basic block `loop`, whose address must not change.
Instr run_by_one_handler(const Loop& loop);

}  // namespace rung::vgpu
