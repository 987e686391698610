#include "library/cuda/launch.hpp"

#include "backends/cuda/start.hpp"

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
  const DriverApi& api = context.api();
  const Function function = context.function(choice, dtype, launch.shared_bytes);
  require(api, start(api, function, launch, stream, parameters), choice.id);
}

}  // namespace rung::cuda
