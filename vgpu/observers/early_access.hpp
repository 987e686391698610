#pragma once
// Checks accesses to global memory in launches that start early (LaunchOptions::starts_early):
// until a thread has executed griddepcontrol.wait, the previous kernel may still write what it
// reads, or read what it writes (PTX ISA, 9.7.13.13; CUDA C++ Programming Guide, "Programmatic
// Dependent Launch and Synchronization").

#include <cstdint>

#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

/// griddepcontrol.wait: the previous kernel has ended for the warp's active lanes.
void observe_grid_wait(Warp& warp);

/// The lanes that have not waited themselves, and have not synchronized at a barrier with a thread
/// that has. A subset of Warp::early.
Mask early_lanes(Warp& warp, Mask lanes);

/// Reports an access to global memory by such a lane.
void report_early_access(Warp& warp, int lane, std::uint32_t site, const char* access,
                         std::uint64_t address);

/// Called when all threads of the block have synchronized and their stamps are about to be reset.
void settle_grid_waits(Block& block);

}  // namespace rung::vgpu
