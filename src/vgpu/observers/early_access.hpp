#pragma once
// Checks accesses to global memory in a launch that starts early (LaunchOptions::starts_early):
// until a thread has executed griddepcontrol.wait, the previous kernel may still write what it
// reads, or read what it writes (PTX ISA, 9.7.13.13; CUDA C++ Programming Guide, "Programmatic
// Dependent Launch and Synchronization").

#include <cstdint>

#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

/// griddepcontrol.wait: the previous kernel has ended for the warp's active lanes.
void observe_grid_wait(Warp& warp);

/// Which of these lanes neither have waited, nor have since met one that had at a barrier. Only
/// lanes of Warp::early can be among them.
Mask early_lanes(Warp& warp, Mask lanes);

/// An access to global memory by such a lane.
void report_early_access(Warp& warp, int lane, std::uint32_t site, const char* access,
                         std::uint64_t address);

/// All threads of the block have met, and their stamps are about to be reset.
void settle_grid_waits(Block& block);

}  // namespace rung::vgpu
