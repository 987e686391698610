#pragma once
// The policies by which launches are observed (LaunchOptions::observe).

#include "vgpu/engine/observers.hpp"

namespace rung::vgpu::observers {

/// Nothing is counted but instructions, and no race is found.
const Observers& none();
/// Counters of memory, and hazards.
const Observers& full();

}  // namespace rung::vgpu::observers
