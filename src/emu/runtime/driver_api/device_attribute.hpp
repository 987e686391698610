#pragma once

#include "cuda_driver/result_codes.hpp"

namespace rung::emu {

/// An attribute of the driver's device by its number in CUdevice_attribute and cudaDeviceAttr: what
/// the virtual GPU's driver knows, and what it leaves out. invalid_value if nobody knows it.
cuda::Result device_attribute(int number, int device, int& value);

}  // namespace rung::emu
