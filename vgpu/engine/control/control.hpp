#pragma once
// Barriers, fences, address conversions, clocks and traps: instructions that are neither arithmetic
// nor memory access.

#include <optional>

#include "vgpu/model/instr.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Returns the specification of such an instruction; nullopt for others. See arithmetic()
/// (engine/arithmetic/arithmetic.hpp).
std::optional<OpSpec> control(const ptx::Instruction& instruction);

}  // namespace rung::vgpu
