#pragma once
// The Metal backend: one code for every device that runs Metal kernels.

#include <memory>

#include "backends/backend.hpp"
#include "backends/cuda/cuda.hpp"

namespace rung {

/// An Apple GPU.
std::unique_ptr<Backend> make_metal_gpu_backend();

/// The virtual GPU, as an M1 Pro where the options do not say otherwise. Throws
/// std::invalid_argument for options that are none.
std::unique_ptr<Backend> make_metal_virtual_backend(const DeviceOptions& options,
                                                    LaunchObserver observer = refuse_hazards);

}  // namespace rung
