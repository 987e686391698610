#pragma once
// Launches that track values from unwritten shared memory in all of their blocks (model/kernel.hpp, TrackingVersion).

#include "vgpu/launch.hpp"

namespace rung::vgpu {

/// True if the kernel has such a version and its effects are in memory alone: a launch may then be taken back.
bool may_track_again(const Kernel& kernel, const LaunchOptions& options);
/// All later blocks of the kernel run in that version.
void track_from_now_on(const Kernel& kernel);

}  // namespace rung::vgpu
