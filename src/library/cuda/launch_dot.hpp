#pragma once
// A chosen dot rung's launch into the caller's stream.

#include "core/problem.hpp"
#include "library/cuda/launch.hpp"
#include "library/cuda/select.hpp"

namespace rung::cuda {

/// What a workspace must have: more than any rung takes on a GPU of a thousand multiprocessors, and
/// room for a result behind that.
inline constexpr std::int64_t least_dot_workspace_bytes = 1 << 20;

/// Computes a problem whose pointers are the device's, as is the result's. Throws rung::Error and
/// std::bad_alloc.
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
