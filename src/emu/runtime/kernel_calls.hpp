#pragma once
// Launches a kernel by its stub, with the checks and reports that all kinds of launches share.

#include <functional>

#include "emu/runtime/runtime.hpp"

namespace rung::emu {

using LaunchCall = std::function<cuda::Result(const cuda::DriverApi& api, cuda::Function function)>;

cudaError_t launch_kernel(const void* stub, dim3 grid, dim3 block, const LaunchCall& call);

}  // namespace rung::emu
