#pragma once
// Occupancy: the number of blocks of a kernel that an SM holds at once, and the resource that
// limits it (CUDA C++ Programming Guide, "Multiprocessor Level" and "Compute Capabilities").

#include <cstdint>
#include <functional>

#include "vgpu/model/device.hpp"

namespace rung::vgpu {

/// The resources of a kernel, independent of its block size.
struct KernelResources {
  int registers = 0;               // 32-bit registers per thread
  std::int64_t static_shared = 0;  // bytes per block
  /// Maximum bytes that a block may request at launch: unless raised for a kernel
  /// (CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), the device's default minus static_shared.
  std::int64_t max_dynamic_shared = 0;
  int max_threads = 1024;  // per block
  int barriers = 1;        // number used by a block
  /// Preferred share of the SM's on-chip memory to use as shared memory, in percent; -1: the driver
  /// chooses, and prefers shared memory.
  int shared_carveout = -1;
};

/// Blocks per SM: the minimum of the limits. 0: the kernel cannot run.
struct Occupancy {
  int blocks = 0;
  int warps = 0;        // blocks times warps per block
  double fraction = 0;  // share of the SM's warps
  // The number of blocks that each resource alone would allow.
  int limit_by_warps = 0, limit_by_blocks = 0, limit_by_registers = 0, limit_by_shared = 0,
      limit_by_barriers = 0;
  std::int64_t allocated_registers = 0;  // per block, after rounding
  std::int64_t allocated_shared = 0;     // bytes per block, rounded, including the system's share
};

/// The limit by a resource that the kernel does not use.
inline constexpr int no_limit = 0x7FFFFFFF;

/// `block_size`: threads, above 0. `dynamic_shared`: bytes.
Occupancy occupancy(const DeviceDescription& device, const KernelResources& kernel, int block_size,
                    std::int64_t dynamic_shared);

/// The block size with the highest occupancy, the largest one if there are several, and the
/// smallest number of such blocks that fills the device. Both are 0 if the kernel cannot run.
struct BlockSizeChoice {
  int block_size = 0;
  int least_grid_size = 0;
};

/// `dynamic_shared`: returns the bytes for a block size. `block_size_limit`: maximum threads per
/// block; 0: no limit.
BlockSizeChoice best_block_size(const DeviceDescription& device, const KernelResources& kernel,
                                const std::function<std::int64_t(int)>& dynamic_shared,
                                int block_size_limit = 0);

/// The smallest carve-out of the SM's shared memory that has at least `bytes` bytes, or its whole
/// size.
std::int64_t shared_memory_setting(const DeviceDescription& device, std::int64_t bytes);

}  // namespace rung::vgpu
