#pragma once
// The occupancy calculator of a CUDA toolkit, if one is installed, for comparison.
// RUNG_HAS_CUDA_OCCUPANCY: 1 if it is.

#if __has_include(<cuda_occupancy.h>)
#include <climits>
#include <cstddef>
#include <cstring>
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wunused-function"
#include <cuda_occupancy.h>
#pragma GCC diagnostic pop
#define RUNG_HAS_CUDA_OCCUPANCY 1

#include "vgpu/model/device.hpp"

namespace rung::vgpu {

inline cudaOccDeviceProp properties_of(const DeviceDescription& device) {
  cudaOccDeviceProp properties;
  properties.computeMajor = device.compute_major;
  properties.computeMinor = device.compute_minor;
  properties.maxThreadsPerBlock = device.max_threads_per_block;
  properties.maxThreadsPerMultiprocessor = 32 * device.max_warps_per_multiprocessor;
  properties.regsPerBlock = device.registers_per_block;
  properties.regsPerMultiprocessor = device.registers_per_multiprocessor;
  properties.warpSize = 32;
  properties.sharedMemPerBlock = static_cast<std::size_t>(device.shared_per_block);
  properties.sharedMemPerMultiprocessor =
      static_cast<std::size_t>(device.shared_per_multiprocessor);
  properties.numSms = device.multiprocessors;
  properties.sharedMemPerBlockOptin = static_cast<std::size_t>(device.shared_per_block_optin);
  properties.reservedSharedMemPerBlock = static_cast<std::size_t>(device.shared_reserved_per_block);
  return properties;
}

}  // namespace rung::vgpu

#endif
