#pragma once
// Launches of graphs.

#include <cstddef>
#include <memory>

#include "vgpu/driver/state.hpp"

namespace rung::vgpu::driver {

/// The bytes of a condition (ConditionalNode).
inline constexpr std::size_t condition_bytes = 4;

std::shared_ptr<GraphState> find_exec(ContextState& context, cuda::GraphExec exec);

/// Runs the operations of a graph, one after the other, as nodes of the running operation.
void replay(ContextState& context, GraphState& graph);

}  // namespace rung::vgpu::driver
