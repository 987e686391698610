#include "vgpu/occupancy.hpp"

#include <algorithm>

namespace rung::vgpu {
namespace {

constexpr int warp_threads = 32;

template <class T>
T rounded_up(T value, T unit) {
  return (value + unit - 1) / unit * unit;
}

int warps_of(int block_size) { return 1 + (block_size - 1) / warp_threads; }

int limit_by_warps(const DeviceDescription& device, int block_size) {
  if (block_size > device.max_threads_per_block) return 0;
  return device.max_warps_per_multiprocessor / warps_of(block_size);
}

/// Registers are allocated to warps, in units, in the partition that runs the warp
/// (warp_allocation_granularity is the number of partitions).
int limit_by_registers(const DeviceDescription& device, const KernelResources& kernel,
                       int block_size, std::int64_t& allocated) {
  const int partitions = device.warp_allocation_granularity;
  const int warps = warps_of(block_size);
  const int of_warp = rounded_up(kernel.registers * warp_threads, device.register_allocation_unit);
  allocated = std::int64_t{of_warp} * warps;
  if (of_warp == 0) return no_limit;
  // The hardware checks a block as if its warps were distributed evenly over all partitions.
  const std::int64_t assumed = std::int64_t{of_warp} * rounded_up(warps, partitions);
  if (assumed > device.registers_per_block || kernel.registers > device.max_registers_per_thread) {
    return 0;
  }
  const int warps_of_partition = device.registers_per_multiprocessor / partitions / of_warp;
  return warps_of_partition * partitions / warps;
}

std::int64_t preferred_shared(const DeviceDescription& device, int carveout) {
  if (carveout < 0) return device.shared_per_multiprocessor;
  return shared_memory_setting(device, carveout * device.shared_per_multiprocessor / 100);
}

int limit_by_shared(const DeviceDescription& device, const KernelResources& kernel,
                    std::int64_t dynamic_shared, std::int64_t& allocated) {
  const std::int64_t fixed = kernel.static_shared + device.shared_reserved_per_block;
  allocated = rounded_up(fixed + dynamic_shared, std::int64_t{device.shared_allocation_unit});
  if (allocated == 0) return no_limit;
  const bool opted_in = fixed + kernel.max_dynamic_shared > device.shared_per_block;
  const std::int64_t most = device.shared_reserved_per_block +
                            (opted_in ? device.shared_per_block_optin : device.shared_per_block);
  if (dynamic_shared > kernel.max_dynamic_shared || allocated > most) return 0;
  // A preference for less than one block needs is ignored.
  const std::int64_t preferred = preferred_shared(device, kernel.shared_carveout);
  const std::int64_t available =
      preferred >= allocated ? preferred : shared_memory_setting(device, allocated);
  return static_cast<int>(available / allocated);
}

/// Since Hopper, named barriers are limited: each resident block needs two.
int limit_by_barriers(const DeviceDescription& device, const KernelResources& kernel) {
  if (device.compute_major < 9 || kernel.barriers == 0) return no_limit;
  return 2 * device.max_blocks_per_multiprocessor / kernel.barriers;
}

}  // namespace

std::int64_t shared_memory_setting(const DeviceDescription& device, std::int64_t bytes) {
  constexpr std::int64_t turing[] = {32, 64};
  constexpr std::int64_t others[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
  const auto least = [&](const auto& settings) {
    for (const std::int64_t kilobytes : settings) {
      const std::int64_t setting = kilobytes * 1024;
      if (setting >= bytes) return std::min(setting, device.shared_per_multiprocessor);
    }
    return device.shared_per_multiprocessor;
  };
  return device.compute_major == 7 && device.compute_minor == 5 ? least(turing) : least(others);
}

Occupancy occupancy(const DeviceDescription& device, const KernelResources& kernel, int block_size,
                    std::int64_t dynamic_shared) {
  Occupancy result;
  result.limit_by_warps = limit_by_warps(device, block_size);
  result.limit_by_blocks = device.max_blocks_per_multiprocessor;
  result.limit_by_registers =
      limit_by_registers(device, kernel, block_size, result.allocated_registers);
  result.limit_by_shared = limit_by_shared(device, kernel, dynamic_shared, result.allocated_shared);
  result.limit_by_barriers = limit_by_barriers(device, kernel);
  result.blocks =
      std::min({result.limit_by_warps, result.limit_by_blocks, result.limit_by_registers,
                result.limit_by_shared, result.limit_by_barriers});
  result.warps = result.blocks * warps_of(block_size);
  result.fraction = static_cast<double>(result.warps) / device.max_warps_per_multiprocessor;
  return result;
}

BlockSizeChoice best_block_size(const DeviceDescription& device, const KernelResources& kernel,
                                const std::function<std::int64_t(int)>& dynamic_shared,
                                int block_size_limit) {
  int largest = std::min(device.max_threads_per_block, kernel.max_threads);
  if (block_size_limit > 0) largest = std::min(largest, block_size_limit);
  BlockSizeChoice best;
  int max_resident_threads = 0;
  for (int aligned = rounded_up(largest, warp_threads); aligned > 0; aligned -= warp_threads) {
    const int block_size = std::min(aligned, largest);
    const int blocks = occupancy(device, kernel, block_size, dynamic_shared(block_size)).blocks;
    if (blocks * block_size <= max_resident_threads) continue;
    max_resident_threads = blocks * block_size;
    best = {block_size, blocks * device.multiprocessors};
  }
  return best;
}

}  // namespace rung::vgpu
