#pragma once
// The GPU of an Apple machine, as a device of the Metal backend.

#include <memory>
#include <string>

#include "backends/metal/device.hpp"

namespace rung::metal {

struct AppleGpu {
  std::unique_ptr<Device> device;
  std::string why_not;  // reason why there is no GPU
};

/// Opens the GPU. Requires a build with metal-cpp. If RUNG_METALLIBS is set, kernels are loaded
/// from that folder, from files such as gemm_metal_00_naive.metallib.
AppleGpu open_apple_gpu();

}  // namespace rung::metal
