// Occupancy of loaded functions (vgpu/occupancy.hpp).

#include <algorithm>

#include "vgpu/driver/call.hpp"
#include "vgpu/driver/calls.hpp"
#include "vgpu/driver/resources.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu::driver {
namespace {

/// The most registers per thread that a compiler would use: limited by `.maxnreg`, and by
/// `.maxntid` and `.minnctapersm`, since that number of blocks of that size must fit on an SM
/// (CUDA C++ Programming Guide, "Launch Bounds").
int registers_per_thread(const ptx::Function& text, const DeviceDescription& device) {
  int most = device.max_registers_per_thread;
  if (text.max_registers > 0) most = std::min(most, text.max_registers);
  const std::int64_t* threads = text.max_threads[0] != 0 ? text.max_threads : text.required_threads;
  if (threads[0] != 0) {
    const std::int64_t block = std::max<std::int64_t>(1, threads[0]) *
                               std::max<std::int64_t>(1, threads[1]) *
                               std::max<std::int64_t>(1, threads[2]);
    // Warps are spread evenly over four SM partitions.
    const std::int64_t warps = (block + 127) / 128 * 4;
    const std::int64_t of_block =
        std::min<std::int64_t>(device.registers_per_block,
                               device.registers_per_multiprocessor / std::max(1, text.min_blocks));
    const std::int64_t fit = of_block / (32 * warps) / 8 * 8;
    most = static_cast<int>(std::clamp<std::int64_t>(fit, 16, most));
  }
  return most;
}

int carveout_of(const FunctionState& function, CacheConfig of_context) {
  if (function.carveout >= 0) return function.carveout;
  const CacheConfig config =
      function.cache_config == CacheConfig::prefer_none ? of_context : function.cache_config;
  switch (config) {
    case CacheConfig::prefer_l1: return 0;
    case CacheConfig::prefer_equal: return 50;
    case CacheConfig::prefer_shared: return 100;
    case CacheConfig::prefer_none: break;
  }
  return -1;
}

KernelResources resources_in(const ContextState& context, const FunctionState& function) {
  KernelResources resources = resources_of(function);
  resources.shared_carveout = carveout_of(function, context.cache_config);
  return resources;
}

}  // namespace

KernelResources resources_of(const FunctionState& function) {
  const KernelInfo& kernel = info(*function.kernel);
  const DeviceDescription& device = process().device;
  KernelResources resources;
  resources.registers = std::min(kernel.registers, device.max_registers_per_thread);
  if (const auto module = function.module.lock()) {
    const ptx::Function* text = module->module->text().find(kernel.name);
    if (text != nullptr) {
      resources.registers = std::min(resources.registers, registers_per_thread(*text, device));
    }
  }
  resources.static_shared = kernel.static_shared;
  resources.max_dynamic_shared = function.max_dynamic_shared;
  resources.max_threads = kernel.max_threads;
  resources.shared_carveout = function.carveout;
  return resources;
}

Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function function, int block_size,
                                                   std::size_t dynamic_shared_bytes) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size,
                                                              dynamic_shared_bytes, 0);
}

Result cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, Function function,
                                                            int block_size,
                                                            std::size_t dynamic_shared_bytes,
                                                            unsigned flags) {
  return call_context([&](ContextState& context) {
    require_pointer(blocks);
    require(block_size > 0, Result::invalid_value, "the block size must be above 0");
    require((flags & ~cuda::occupancy_disable_caching_override) == 0, Result::invalid_value,
            "not flags of an occupancy query");
    const FunctionState& state = *find_function(context, function);
    const auto shared = static_cast<std::int64_t>(
        std::min<std::size_t>(dynamic_shared_bytes, std::size_t{1} << 40));
    *blocks = occupancy(process().device, resources_in(context, state), block_size, shared).blocks;
  });
}

Result cuOccupancyMaxPotentialBlockSize(int* least_grid_size, int* block_size, Function function,
                                        SharedBytesOfBlock shared_bytes_of_block,
                                        std::size_t dynamic_shared_bytes, int block_size_limit) {
  return call_context([&](ContextState& context) {
    require_pointer(least_grid_size);
    require_pointer(block_size);
    require(block_size_limit >= 0, Result::invalid_value, "the block size limit is negative");
    const FunctionState& state = *find_function(context, function);
    const auto shared = [&](int threads) {
      const std::size_t bytes =
          shared_bytes_of_block != nullptr ? shared_bytes_of_block(threads) : dynamic_shared_bytes;
      return static_cast<std::int64_t>(std::min<std::size_t>(bytes, std::size_t{1} << 40));
    };
    const BlockSizeChoice choice =
        best_block_size(process().device, resources_in(context, state), shared, block_size_limit);
    *least_grid_size = choice.least_grid_size;
    *block_size = choice.block_size;
  });
}

}  // namespace rung::vgpu::driver
