#include "library/cuda/launch.hpp"

#include "backends/cuda/grid_limits.hpp"

namespace rung::cuda {

std::int64_t WorkspaceSource::bytes() const {
  return options.workspace == nullptr ? Workspaces::bytes
                                      : static_cast<std::int64_t>(options.workspace_bytes);
}

DevicePointer WorkspaceSource::get() const {
  if (options.workspace == nullptr) return context.workspaces().get(context.api(), stream);
  return reinterpret_cast<DevicePointer>(options.workspace);
}

void start(ContextCache& context, Stream stream, const CudaGemmChoice& choice, Dtype dtype,
           const Launch& launch, void** parameters) {
  const auto narrow = [](std::int64_t extent) { return static_cast<unsigned>(extent); };
  const DriverApi& api = context.api();
  const Function function = context.function(choice, dtype, launch.shared_bytes);
  // More blocks than a grid can have are invalid, and never cut off at 32 bits.
  const Result result =
      is_possible(launch.grid)
          ? api.cuLaunchKernel(function, narrow(launch.grid.x), narrow(launch.grid.y),
                               narrow(launch.grid.z), narrow(launch.block.x),
                               narrow(launch.block.y), narrow(launch.block.z),
                               narrow(launch.shared_bytes), stream, parameters, nullptr)
          : Result::invalid_value;
  require(api, result, choice.id);
}

}  // namespace rung::cuda
