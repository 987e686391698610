#pragma once
// The Metal backend: the same code for all devices that run Metal kernels.

#include <memory>

#include "backends/backend.hpp"
#include "backends/cuda/cuda.hpp"

namespace rung {

/// A backend for an Apple GPU.
std::unique_ptr<Backend> make_metal_gpu_backend();

/// A backend for the virtual GPU, by default an M1 Pro. Throws std::invalid_argument for invalid
/// options.
std::unique_ptr<Backend> make_metal_virtual_backend(const DeviceOptions& options,
                                                    LaunchObserver observer = refuse_hazards);

namespace metal {
class VirtualDevice;
}

/// The virtual GPU of a Metal backend; null for any other backend.
metal::VirtualDevice* metal_virtual_device_of(const Backend& backend);

}  // namespace rung
