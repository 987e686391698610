#pragma once
// Launches a selected dot rung in the caller's stream.

#include "core/problem.hpp"
#include "library/cuda/launch.hpp"
#include "select/cuda/select.hpp"

namespace rung::cuda {

/// The minimum workspace size: more than any rung needs on a GPU with a thousand SMs, plus memory
/// for a result.
inline constexpr std::int64_t least_dot_workspace_bytes = 1 << 20;

/// Computes a problem whose pointers, including the result, are device pointers. Throws rung::Error
/// and std::bad_alloc.
template <class In, class Out>
void launch_dot(const WorkspaceSource& workspace, const CudaDotChoice& choice,
                const Dot<In>& problem, Out* result) {
  ContextCache& context = workspace.context;
  const Launch launch =
      choice.rung->launches.template of<In>()(problem, context.limits().multiprocessors).launch;
  const WorkspaceUse use = launch.workspace_bytes == 0 ? WorkspaceUse{} : workspace.use();
  DotTarget target = {result, reinterpret_cast<void*>(use.data)};
  void* parameters[] = {const_cast<Dot<In>*>(&problem), &target};
  start(context, workspace.stream, kernel_of_dot(choice.index, dtype_of<In>()), launch, parameters);
}

}  // namespace rung::cuda
