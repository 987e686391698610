#include "library/cuda/launch.hpp"

#include "backends/cuda/start.hpp"

namespace rung::cuda {

std::int64_t WorkspaceSource::bytes() const {
  return given == nullptr ? Workspaces::bytes : static_cast<std::int64_t>(given_bytes);
}

DevicePointer WorkspaceSource::get() const {
  if (given == nullptr) return context.workspaces().get(context.api(), stream);
  return reinterpret_cast<DevicePointer>(given);
}

void start(ContextCache& context, Stream stream, const KernelName& kernel, const Launch& launch,
           void** parameters) {
  const DriverApi& api = context.api();
  const Function function = context.function(kernel, launch.shared_bytes);
  require(api, start(api, function, launch, stream, parameters), kernel.id);
}

}  // namespace rung::cuda
