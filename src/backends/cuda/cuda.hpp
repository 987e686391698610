#pragma once
// The CUDA backend: the same code for a GPU, through its driver, and for the virtual GPU, which has
// the same API.

#include <functional>
#include <memory>

#include "backends/backend.hpp"
#include "vgpu/launch.hpp"

namespace rung {

namespace cuda {
class Gpu;
}

/// The device behind either backend below, for code that uses it directly: libraries with launches
/// of their own, and ceilings. Null for other backends, and if there is no device.
cuda::Gpu* gpu_of(const Backend& backend);

/// The GPU is detected at the first query.
std::unique_ptr<Backend> make_gpu_backend(const DeviceOptions& options);

/// Called in the launching thread after each launch on the virtual GPU. Its exceptions propagate to
/// the caller of the launch.
using LaunchObserver =
    std::function<void(const vgpu::LaunchReport& report, const vgpu::Kernel& kernel)>;

/// Throws KernelError for a launch with a hazard: a rung whose results are correct by luck is not
/// correct.
void refuse_hazards(const vgpu::LaunchReport& report, const vgpu::Kernel& kernel);

std::unique_ptr<Backend> make_virtual_backend(const DeviceOptions& options,
                                              LaunchObserver observer = refuse_hazards);

}  // namespace rung
