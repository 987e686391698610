#pragma once
// The two tables of observers selected by LaunchOptions::observe.

#include "vgpu/engine/observers.hpp"

namespace rung::vgpu::observers {

/// Counts only instructions, and detects no hazards.
const Observers& none();
/// Also counts memory accesses, and detects hazards.
const Observers& full();

}  // namespace rung::vgpu::observers
