#include "library/cuda/launch.hpp"

#include <algorithm>
#include <utility>

#include "backends/cuda/prepared_gemm.hpp"
#include "backends/cuda/start.hpp"

namespace rung::cuda {
namespace {

/// The offset of packed copies in a workspace: after the launch's own part and the counters, which
/// must stay zero.
std::int64_t begin_of_copies(const Launch& launch) {
  return up_to_copy(std::max(launch.workspace_bytes, semaphores_bytes));
}

bool copies_lie_in(const WorkspaceSource& workspace, const Launch& launch) {
  const std::int64_t bytes = packed_bytes(launch);
  return bytes > 0 && begin_of_copies(launch) + bytes <= workspace.bytes();
}

}  // namespace

std::int64_t WorkspaceSource::bytes() const {
  return given == nullptr ? Workspaces::bytes : static_cast<std::int64_t>(given_bytes);
}

std::int64_t WorkspaceSource::bytes_for_copies() const {
  return given == nullptr ? any_size : bytes();
}

WorkspaceUse WorkspaceSource::use() const {
  if (given != nullptr) return {.data = reinterpret_cast<DevicePointer>(given)};
  std::shared_ptr<Workspace> owner = context.workspaces().get(context.api(), stream);
  std::unique_lock enqueuing(owner->enqueuing);
  return {owner->data, std::move(owner), std::move(enqueuing)};
}

Limits limits_of_call(const WorkspaceSource& workspace, int multiprocessors) {
  Limits limits = workspace.context.limits();
  limits.workspace_bytes = workspace.bytes();
  limits.may_pack = workspace.given == nullptr;
  if (multiprocessors > 0)
    limits.multiprocessors = std::min(limits.multiprocessors, multiprocessors);
  return limits;
}

bool uses(const WorkspaceSource& workspace, const Launch& launch) {
  return launch.workspace_bytes > 0 || copies_lie_in(workspace, launch);
}

CopyRoom::CopyRoom(const WorkspaceSource& workspace, const WorkspaceUse& use, const Launch& launch)
    : workspace_(workspace) {
  if (copies_lie_in(workspace, launch)) {
    data_ = use.data + static_cast<DevicePointer>(begin_of_copies(launch));
  } else if (const std::int64_t bytes = packed_bytes(launch); bytes > 0) {
    ContextCache& context = workspace.context;
    data_ = context.pool().allocate(context.api(), bytes, workspace.stream);
    allocated_ = true;
  }
}

CopyRoom::~CopyRoom() {
  if (allocated_) StreamPool::free(workspace_.context.api(), data_, workspace_.stream);
}

bool fits(const WorkspaceSource& workspace, const Launch& launch) {
  return launch.workspace_bytes <= workspace.bytes() &&
         begin_of_copies(launch) + packed_bytes(launch) <= workspace.bytes_for_copies();
}

void start(ContextCache& context, Stream stream, const KernelName& kernel, const Launch& launch,
           void** parameters) {
  const DriverApi& api = context.api();
  const Function function = context.function(kernel, launch.shared_bytes);
  require(api, start(api, function, launch, stream, parameters), kernel.id);
}

Launch fitting_launch(const WorkspaceSource& workspace, CudaGemmChoice& choice,
                      const GemmCall& problem, int multiprocessors, const Groups& groups) {
  while (true) {
    const Launch launch = fitted(launch_of(choice, problem, groups), multiprocessors);
    if (choice.config.splits == 1 || fits(workspace, launch)) return launch;
    --choice.config.splits;
  }
}

void launch_gemm(const WorkspaceSource& workspace, CudaGemmChoice choice, const GemmCall& problem,
                 int multiprocessors, const Groups& groups) {
  ContextCache& context = workspace.context;
  const Launch launch = fitting_launch(workspace, choice, problem, multiprocessors, groups);
  const WorkspaceUse use = uses(workspace, launch) ? workspace.use() : WorkspaceUse{};
  const DevicePointer sums = launch.workspace_bytes == 0 ? 0 : use.data;
  const CopyRoom room(workspace, use, launch);
  PreparedGemm prepared(context.api(), choice, problem, launch, multiprocessors,
                        {reinterpret_cast<void*>(sums), room.data()}, groups);
  require(context.api(), prepared.result(), "cuTensorMapEncodeTiled");
  prepared.for_each_launch([&](const KernelName& kernel, const Launch& each, void** parameters) {
    start(context, workspace.stream, kernel, each, parameters);
  });
}

}  // namespace rung::cuda
