#pragma once
// Calls of the libraries that compute on the CPU, as operations of their streams.

#include "vgpu/driver/virtual_driver.hpp"

namespace rung::emu {

using vgpu::LibraryCall;

}  // namespace rung::emu
