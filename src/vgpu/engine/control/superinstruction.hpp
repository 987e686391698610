#pragma once
// Several instructions run by one handler.

#include "vgpu/model/kernel.hpp"

namespace rung::vgpu {

/// The instruction that runs this one, which has to outlive it.
Instr run_by_one_handler(const Superinstruction& super);

}  // namespace rung::vgpu
