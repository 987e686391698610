#pragma once
// Launches a kernel by its stub, with the checks and reports that all kinds of launches share.

#include <functional>

#include "emu/runtime/runtime.hpp"

namespace rung::emu {

using LaunchCall = std::function<cuda::Result(const cuda::DriverApi& api, cuda::Function function)>;

/// Checks the shape and `shared_bytes` of dynamic shared memory before `call`, which may therefore
/// convert the latter to 32 bits.
cudaError_t launch_kernel(const void* stub, dim3 grid, dim3 block, std::size_t shared_bytes,
                          const LaunchCall& call);

}  // namespace rung::emu
