#include "library/cuda/launch.hpp"

#include <algorithm>

#include "backends/cuda/start.hpp"

namespace rung {

extern const cuda::GemmRung gemm_cuda_library_repitch;

namespace cuda {
namespace {

/// The offset of packed copies in a workspace: after the launch's own part and the counters, which
/// must stay zero.
std::int64_t begin_of_copies(const Launch& launch) {
  return up_to_copy(std::max(launch.workspace_bytes, meetings_bytes));
}

/// The kernel that packs operands. Loaded and launched like a rung.
constexpr CudaGemmChoice repitch = {gemm_rungs.size() + 1, "gemm/cuda/repitch",
                                    &gemm_cuda_library_repitch};

}  // namespace

std::int64_t WorkspaceSource::bytes() const {
  return given == nullptr ? Workspaces::bytes : static_cast<std::int64_t>(given_bytes);
}

std::int64_t WorkspaceSource::bytes_for_copies() const {
  return given == nullptr ? any_size : bytes();
}

DevicePointer WorkspaceSource::get() const {
  if (given == nullptr) return context.workspaces().get(context.api(), stream);
  return reinterpret_cast<DevicePointer>(given);
}

CopyRoom::CopyRoom(const WorkspaceSource& workspace, const Launch& launch) : workspace_(workspace) {
  const std::int64_t bytes = repitched_bytes(launch);
  if (bytes == 0) return;
  const std::int64_t begin = begin_of_copies(launch);
  allocated_ = begin + bytes > workspace.bytes();
  ContextCache& context = workspace.context;
  data_ = allocated_ ? context.pool().allocate(context.api(), bytes, workspace.stream)
                     : workspace.get() + static_cast<DevicePointer>(begin);
}

CopyRoom::~CopyRoom() {
  // An error here has been reported before, or is reported by the next call.
  if (allocated_) workspace_.context.api().cuMemFreeAsync(data_, workspace_.stream);
}

bool fits(const WorkspaceSource& workspace, const Launch& launch) {
  return launch.workspace_bytes <= workspace.bytes() &&
         begin_of_copies(launch) + repitched_bytes(launch) <= workspace.bytes_for_copies();
}

void start(ContextCache& context, Stream stream, const KernelName& kernel, const Launch& launch,
           void** parameters) {
  const DriverApi& api = context.api();
  const Function function = context.function(kernel, launch.shared_bytes);
  require(api, start(api, function, launch, stream, parameters), kernel.id);
}

TensorMaps prepare_maps(const WorkspaceSource& workspace, const Launch& launch,
                        const CopyRoom& room) {
  ContextCache& context = workspace.context;
  const PreparedMaps prepared(context.api(), launch, room.data());
  require(context.api(), prepared.result(), "cuTensorMapEncodeTiled");
  for (const Repitch& copy : prepared.copies()) {
    void* parameters[] = {const_cast<Repitch*>(&copy)};
    start(context, workspace.stream, kernel_of(repitch, type_of(copy)), launch_of(copy),
          parameters);
  }
  return prepared.maps();
}

}  // namespace cuda
}  // namespace rung
