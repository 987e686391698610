#pragma once
// The CUDA backend: one code for two devices, a GPU by way of its driver and the virtual GPU by way
// of the same calls.

#include <functional>
#include <memory>

#include "backends/backend.hpp"
#include "vgpu/launch.hpp"

namespace rung {

namespace cuda {
class Gpu;
}

/// The device behind either backend below, for whoever uses it by itself: libraries that have
/// launches of their own, the ceilings. Null for other backends, and where there is no device.
cuda::Gpu* gpu_of(const Backend& backend);

/// Whether a GPU is here is found out at the first question.
std::unique_ptr<Backend> make_gpu_backend(const DeviceOptions& options);

/// Told of each launch on the virtual GPU once it is over, in the launching thread. What it throws
/// reaches whoever launched.
using LaunchObserver =
    std::function<void(const vgpu::LaunchReport& report, const vgpu::Kernel& kernel)>;

/// Throws KernelError for a launch with a hazard: a rung whose numbers are right by luck is not
/// right.
void refuse_hazards(const vgpu::LaunchReport& report, const vgpu::Kernel& kernel);

std::unique_ptr<Backend> make_virtual_backend(const DeviceOptions& options,
                                              LaunchObserver observer = refuse_hazards);

}  // namespace rung
