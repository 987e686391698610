#pragma once
// The CUDA backend: the same code drives a GPU through its driver and the virtual GPU, which has
// the same API.

#include <functional>
#include <memory>

#include "backends/backend.hpp"
#include "vgpu/launch.hpp"

namespace rung {

namespace cuda {
class Gpu;
}

/// The device of either backend below, for code that uses it directly, such as vendor libraries
/// and ceilings. Null for other backends, and if there is no device.
cuda::Gpu* gpu_of(const Backend& backend);

/// Does not detect the GPU before the first query.
std::unique_ptr<Backend> make_gpu_backend(const DeviceOptions& options);

/// Called in the launching thread after each launch on the virtual GPU. Exceptions propagate to the
/// caller of the launch.
using LaunchObserver =
    std::function<void(const vgpu::LaunchReport& report, const vgpu::Kernel& kernel)>;

/// Throws KernelError for a launch with a hazard, because a rung with a race may produce correct
/// results by chance.
void refuse_hazards(const vgpu::LaunchReport& report, const vgpu::Kernel& kernel);

std::unique_ptr<Backend> make_virtual_backend(const DeviceOptions& options,
                                              LaunchObserver observer = refuse_hazards);

}  // namespace rung
