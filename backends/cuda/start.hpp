#pragma once
// Starts a launch through the driver.

#include "backends/cuda/grid_limits.hpp"
#include "core/cuda_driver/api.hpp"
#include "device/cuda/entry/launch.hpp"

namespace rung::cuda {

// The limit of dynamic shared memory without an attribute; larger sizes must be requested.
inline constexpr std::int64_t plain_shared_bytes = 48 << 10;

/// Enqueues a launch; `arguments` are those of cuLaunchKernel. Returns an error if the grid is too
/// large, instead of truncating it to 32 bits.
inline Result start(const DriverApi& api, Function function, const Launch& launch, Stream stream,
                    void** arguments) {
  if (!is_possible(launch.grid)) return Result::invalid_value;
  const auto narrow = [](std::int64_t extent) { return static_cast<unsigned>(extent); };
  if (launch.cluster > 1 || launch.starts_early) {
    LaunchAttribute attributes[2] = {};
    unsigned count = 0;
    if (launch.cluster > 1) {
      attributes[count].id = LaunchAttributeId::cluster_dimension;
      attributes[count++].value.cluster_dimension = {narrow(launch.cluster), 1, 1};
    }
    if (launch.starts_early) {
      attributes[count].id = LaunchAttributeId::programmatic_stream_serialization;
      attributes[count++].value.programmatic_stream_serialization = 1;
    }
    const LaunchConfig config = {narrow(launch.grid.x),
                                 narrow(launch.grid.y),
                                 narrow(launch.grid.z),
                                 narrow(launch.block.x),
                                 narrow(launch.block.y),
                                 narrow(launch.block.z),
                                 narrow(launch.shared_bytes),
                                 stream,
                                 attributes,
                                 count};
    return api.cuLaunchKernelEx(&config, function, arguments, nullptr);
  }
  return api.cuLaunchKernel(function, narrow(launch.grid.x), narrow(launch.grid.y),
                            narrow(launch.grid.z), narrow(launch.block.x), narrow(launch.block.y),
                            narrow(launch.block.z), narrow(launch.shared_bytes), stream, arguments,
                            nullptr);
}

}  // namespace rung::cuda
