#pragma once
// How many blocks of a kernel a multiprocessor holds at once, and what limits them (CUDA C++
// Programming Guide, "Multiprocessor Level" and "Compute Capabilities").

#include <cstdint>
#include <functional>

#include "vgpu/model/device.hpp"

namespace rung::vgpu {

/// What a kernel takes, whatever its block size.
struct KernelResources {
  int registers = 0;               // 32-bit, a thread
  std::int64_t static_shared = 0;  // bytes a block
  /// Bytes a block may ask for at launch: what is not raised for a kernel
  /// (CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) is the device's default less static_shared.
  std::int64_t max_dynamic_shared = 0;
  int max_threads = 1024;  // of a block
  int barriers = 1;        // used by a block
  /// Preferred share of the multiprocessor's on-chip memory as shared memory, per cent; -1: the
  /// driver chooses, and prefers shared memory.
  int shared_carveout = -1;
};

/// Blocks on one multiprocessor: the least of the limits. 0: the kernel cannot run.
struct Occupancy {
  int blocks = 0;
  int warps = 0;        // blocks times the warps of a block
  double fraction = 0;  // of the multiprocessor's warps
  // What each resource alone would allow.
  int limit_by_warps = 0, limit_by_blocks = 0, limit_by_registers = 0, limit_by_shared = 0,
      limit_by_barriers = 0;
  std::int64_t allocated_registers = 0;  // by a block, after rounding
  std::int64_t allocated_shared = 0;     // bytes, by a block, after rounding and the system's share
};

/// A resource of which a kernel uses nothing limits it to this many blocks.
inline constexpr int no_limit = 0x7FFFFFFF;

/// `block_size` is in threads, above 0; `dynamic_shared` in bytes.
Occupancy occupancy(const DeviceDescription& device, const KernelResources& kernel, int block_size,
                    std::int64_t dynamic_shared);

/// The block size of the highest occupancy, the largest of those if there are several, and the
/// fewest blocks that fill the device with it. Both are 0 if the kernel cannot run.
struct BlockSizeChoice {
  int block_size = 0;
  int least_grid_size = 0;
};

/// `dynamic_shared` gives the bytes for a block size. Blocks are at most `block_size_limit`
/// threads, if that is above 0.
BlockSizeChoice best_block_size(const DeviceDescription& device, const KernelResources& kernel,
                                const std::function<std::int64_t(int)>& dynamic_shared,
                                int block_size_limit = 0);

/// What the multiprocessor's shared memory can be set to that is at least `bytes`, or its whole
/// size.
std::int64_t shared_memory_setting(const DeviceDescription& device, std::int64_t bytes);

}  // namespace rung::vgpu
