#pragma once

#include "core/cuda_driver/result_codes.hpp"

namespace rung::emu {

/// A device attribute by its number in CUdevice_attribute and cudaDeviceAttr, from the virtual GPU's driver
/// or from a table of the others. invalid_value for an unknown number.
cuda::Result device_attribute(int number, int device, int& value);

}  // namespace rung::emu
