#include "library/cuda/launch.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "backends/cuda/prepared_gemm.hpp"
#include "backends/cuda/start.hpp"
#include "core/dtype.hpp"
#include "rung/error.hpp"
#include "select/cuda/select.hpp"
#include "select/rules.hpp"

namespace rung::cuda {
namespace {

/// The offset of packed copies in a workspace: after the launch's own part and the semaphores,
/// which must stay zero.
std::int64_t begin_of_copies(const Launch& launch) {
  return up_to_copy(std::max(launch.workspace_bytes, semaphores_bytes));
}

/// The workspace size for a launch including its packed copies.
std::int64_t bytes_with_copies(const Launch& launch) {
  const std::int64_t copies = packed_bytes(launch);
  return copies == 0 ? launch.workspace_bytes : begin_of_copies(launch) + copies;
}

bool holds_copies(const WorkspaceSource& workspace, const Launch& launch) {
  return packed_bytes(launch) > 0 && bytes_with_copies(launch) <= workspace.bytes();
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
  return launch.workspace_bytes > 0 || holds_copies(workspace, launch);
}

CopyRoom::CopyRoom(const WorkspaceSource& workspace, const WorkspaceUse& use, const Launch& launch)
    : workspace_(workspace) {
  if (holds_copies(workspace, launch)) {
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

void require_aligned(const char* op, const void* data, std::size_t element_bytes) {
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(data) % element_bytes;
  if (beyond == 0) [[likely]]
    return;
  throw Error(Status::invalid_argument,
              "rung: " + std::string(op) + ": an operand begins at an address of " +
                  std::to_string(beyond) + " modulo " + std::to_string(element_bytes) +
                  "; it must be aligned to its elements of " + std::to_string(element_bytes) +
                  " bytes");
}

void require_aligned(const char* op, const GemmCall& call) {
  const auto require_operand = [op](const auto& operand, std::size_t bytes) {
    if (operand.pointers != nullptr) return require_aligned(op, operand.pointers, sizeof(void*));
    require_aligned(op, operand.data, bytes);
  };
  require_operand(call.a, input_bytes(call.dtype));
  require_operand(call.b, input_bytes(call.dtype));
  require_operand(call.c, output_bytes(call.dtype));
}

void require_room(const WorkspaceSource& workspace, const Launch& launch, std::string_view id) {
  const std::int64_t needed = bytes_with_copies(launch);
  if (workspace.given == nullptr || needed <= workspace.bytes()) return;
  throw Error(Status::invalid_argument,
              "rung: " + std::string(id) + ": the workspace has " +
                  std::to_string(workspace.bytes()) + " bytes; it must have at least " +
                  std::to_string(needed) +
                  " for partial sums and copies of operands that are unaligned or not K-major");
}

bool fits(const WorkspaceSource& workspace, const Launch& launch) {
  if (bytes_with_copies(launch) == 0) return true;
  return launch.workspace_bytes <= workspace.bytes() &&
         begin_of_copies(launch) + packed_bytes(launch) <= workspace.bytes_for_copies();
}

void start(ContextCache& context, Stream stream, const KernelName& kernel, const Launch& launch,
           void** parameters) {
  const DriverApi& api = context.api();
  const Function function = context.function(kernel, launch.shared_bytes);
  require(api, start(api, function, launch, stream, parameters), kernel.id);
}

CudaGemmChoice config_in_mode(const WorkspaceSource& workspace, const CudaGemmChoice& chosen,
                              const GemmCall& problem, const Limits& limits) {
  if (!is_batch_invariant(problem.dtype, problem.compute_mode)) {
    return workspace.context.configured(chosen, problem, limits);
  }
  const Candidates candidates = invariant_candidates(chosen, problem, limits);
  if (candidates.count == 0) {
    Limits uncut = limits;
    uncut.workspace_bytes = -1;  // no split-K: the first m that it pays for would show in the bits
    return workspace.context.configured(chosen, problem, uncut);
  }
  std::size_t i = 0;
  while (i + 1 < candidates.count &&
         !fits(workspace, fitted(launch_of(candidates.all[i], problem), limits.multiprocessors))) {
    ++i;
  }
  return candidates.all[i];
}

Launch fitting_launch(const WorkspaceSource& workspace, CudaGemmChoice& choice,
                      const GemmCall& problem, int multiprocessors, const Groups& groups) {
  while (true) {
    const Launch launch = fitted(launch_of(choice, problem, groups), multiprocessors);
    if (choice.config.splits == 1 || fits(workspace, launch)) return launch;
    --choice.config.splits;
  }
}

void* LaunchSequence::room_for(const Launch& launch) {
  if (uses(workspace_, launch) && use_.data == 0) use_ = workspace_.use();
  const std::int64_t bytes = packed_bytes(launch);
  if (holds_copies(workspace_, launch)) return CopyRoom(workspace_, use_, launch).data();
  if (bytes > room_bytes_) {
    rooms_.push_back(std::make_unique<CopyRoom>(workspace_, use_, launch));
    room_bytes_ = bytes;
  }
  return bytes == 0 ? nullptr : rooms_.back()->data();
}

void LaunchSequence::add(const CudaGemmChoice& choice, const GemmCall& problem,
                         const Launch& launch, int multiprocessors, const Groups& groups,
                         const BlockScales* scales) {
  void* const copies = room_for(launch);
  const DevicePointer sums = launch.workspace_bytes == 0 ? 0 : use_.data;
  PreparedGemm prepared(workspace_.context.api(), choice, problem, launch, multiprocessors,
                        {reinterpret_cast<void*>(sums), copies}, groups);
  require(workspace_.context.api(), prepared.result(), "cuTensorMapEncodeTiled");
  if (scales != nullptr) prepared.set(*scales);
  prepared.for_each_launch([&](const KernelName& kernel, const Launch& each, void** parameters,
                               std::size_t bytes) { add(kernel, each, *parameters, bytes); });
}

void LaunchSequence::add(const KernelName& kernel, const Launch& launch, const void* parameter,
                         std::size_t bytes) {
  const Function function = workspace_.context.function(kernel, launch.shared_bytes);
  const auto* const from = static_cast<const std::byte*>(parameter);
  launches_.push_back({function, kernel.id, launch, parameters_.size()});
  parameters_.insert(parameters_.end(), from, from + bytes);
}

void LaunchSequence::enqueue() {
  const DriverApi& api = workspace_.context.api();
  for (const Ready& ready : launches_) {
    void* parameters[] = {parameters_.data() + ready.parameter};
    require(api, start(api, ready.function, ready.launch, workspace_.stream, parameters), ready.id);
  }
}

void add_gemm(LaunchSequence& sequence, CudaGemmChoice choice, const GemmCall& problem,
              int multiprocessors, const Groups& groups) {
  const Launch launch =
      fitting_launch(sequence.workspace(), choice, problem, multiprocessors, groups);
  require_room(sequence.workspace(), launch, choice.id);
  sequence.add(choice, problem, launch, multiprocessors, groups);
}

void launch_gemm(const WorkspaceSource& workspace, CudaGemmChoice choice, const GemmCall& problem,
                 int multiprocessors, const Groups& groups) {
  const Launch launch = fitting_launch(workspace, choice, problem, multiprocessors, groups);
  LaunchSequence sequence(workspace);
  sequence.add(choice, problem, launch, multiprocessors, groups);
  sequence.enqueue();
}

}  // namespace rung::cuda
