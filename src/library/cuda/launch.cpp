#include "library/cuda/launch.hpp"

#include "backends/cuda/start.hpp"

namespace rung {

extern const cuda::GemmRung gemm_cuda_library_repitch;

namespace cuda {
namespace {

/// The kernel that copies operands. Loaded and launched as a rung is.
constexpr CudaGemmChoice repitch = {gemm_rungs.size() + 1, "gemm/cuda/repitch",
                                    &gemm_cuda_library_repitch};

}  // namespace

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

TensorMaps prepare_maps(const WorkspaceSource& workspace, Dtype dtype, const Launch& launch) {
  ContextCache& context = workspace.context;
  // Behind the counters, which have to stay zero.
  void* const room = repitched_bytes(launch) == 0
                         ? nullptr
                         : reinterpret_cast<void*>(workspace.get() + meetings_bytes);
  const PreparedMaps prepared(context.api(), launch, room);
  require(context.api(), prepared.result(), "cuTensorMapEncodeTiled");
  for (const Repitch& copy : prepared.copies()) {
    void* parameters[] = {const_cast<Repitch*>(&copy)};
    start(context, workspace.stream, kernel_of(repitch, dtype), launch_of(copy), parameters);
  }
  return prepared.maps();
}

}  // namespace cuda
}  // namespace rung
