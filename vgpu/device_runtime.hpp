#pragma once
// Functions of NVIDIA's library cudadevrt, as PTX, which a module may declare without defining them.

#include <string>

#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// The text of the functions that this module declares and lacks; empty if it lacks none. They are those of a
/// cooperative grid: cudaCGGetIntrinsicHandle and cudaCGSynchronize (cuda_device_runtime_api.h), which Numba's
/// this_grid().sync() calls.
std::string missing_device_runtime(const ptx::Module& module);

}  // namespace rung::vgpu
