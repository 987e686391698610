#pragma once
// The two sets of observers that LaunchOptions::observe chooses from.

#include "vgpu/engine/observers.hpp"

namespace rung::vgpu::observers {

/// Counts only instructions, and detects no hazards.
const Observers& none();
/// Counts memory accesses, and detects hazards.
const Observers& full();

}  // namespace rung::vgpu::observers
