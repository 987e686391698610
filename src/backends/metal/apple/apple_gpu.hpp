#pragma once
// The GPU of an Apple machine, as a device of the Metal backend.

#include <memory>
#include <string>

#include "backends/metal/device.hpp"

namespace rung::metal {

struct AppleGpu {
  std::unique_ptr<Device> device;
  std::string why_not;  // there is no GPU
};

/// Available if the program is built with metal-cpp. If RUNG_METALLIBS is set, kernels are loaded
/// from that folder: gemm_metal_00_naive.metallib.
AppleGpu open_apple_gpu();

}  // namespace rung::metal
