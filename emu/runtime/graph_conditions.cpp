// Conditional nodes of graphs, and captures into a graph that exists, by which their bodies are often made.

#include <map>
#include <mutex>

#include "emu/runtime/graphs.hpp"

using namespace rung::emu;
namespace cuda = rung::cuda;
using rung::vgpu::ConditionalNode;

namespace {

/// The graph that a stream's capture is for, and what its operations depend on.
struct CaptureTarget {
  cudaGraph_t graph = nullptr;
  std::vector<cudaGraphNode_t> dependencies;
  std::vector<cudaGraphEdgeData> edges;
};

struct Conditions {
  std::mutex mutex;
  std::map<cudaGraphConditionalHandle, bool> has_node;
  std::map<cudaStream_t, CaptureTarget> captures;
};
Conditions& conditions() {
  static auto& only = *new Conditions;
  return only;
}

bool is_size(cudaGraphConditionalNodeType type, unsigned size) {
  switch (type) {
    case cudaGraphCondTypeIf: return size == 1 || size == 2;
    case cudaGraphCondTypeWhile: return size == 1;
    case cudaGraphCondTypeSwitch: return size != 0;
  }
  return false;
}

ConditionalNode::Kind kind_of(cudaGraphConditionalNodeType type) {
  switch (type) {
    case cudaGraphCondTypeIf: break;
    case cudaGraphCondTypeWhile: return ConditionalNode::Kind::loop;
    case cudaGraphCondTypeSwitch: return ConditionalNode::Kind::choice;
  }
  return ConditionalNode::Kind::branch;
}

/// A node takes a condition for itself.
bool take_condition(cudaGraphConditionalHandle handle) {
  const std::lock_guard lock(conditions().mutex);
  const auto found = conditions().has_node.find(handle);
  if (found == conditions().has_node.end() || found->second) return false;
  found->second = true;
  return true;
}

std::shared_ptr<std::vector<cudaGraph_t>> make_bodies(unsigned count) {
  const auto destroy = [](std::vector<cudaGraph_t>* bodies) {
    for (const cudaGraph_t body : *bodies) cudaGraphDestroy(body);
    delete bodies;
  };
  std::shared_ptr<std::vector<cudaGraph_t>> bodies(new std::vector<cudaGraph_t>(count), destroy);
  for (cudaGraph_t& body : *bodies) cudaGraphCreate(&body, 0);
  return bodies;
}

}  // namespace

namespace rung::emu {

bool may_be_in_body(cudaGraphNodeType type) {
  switch (type) {
    case cudaGraphNodeTypeKernel:
    case cudaGraphNodeTypeMemcpy:
    case cudaGraphNodeTypeMemset:
    case cudaGraphNodeTypeGraph:
    case cudaGraphNodeTypeEmpty:
    case cudaGraphNodeTypeConditional: return true;
    default: return false;
  }
}

cudaError_t add_conditional_node(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, size_t count,
                                 cudaConditionalNodeParams& parameters) {
  if (node == nullptr || !is_own(graph) || !is_size(parameters.type, parameters.size) ||
      !take_condition(parameters.handle)) {
    return finish(cudaErrorInvalidValue);
  }
  const cuda::DevicePointer condition = parameters.handle;
  const cudaError_t error = add_graph_node(
      node, graph, dependencies, count, cudaGraphNodeTypeConditional, [=](cudaStream_t stream) {
        return finish(vgpu::read_condition(condition, to_driver(stream)));
      });
  if (error != cudaSuccess) return error;
  (*node)->conditional = {kind_of(parameters.type), condition, {}};
  (*node)->bodies = make_bodies(parameters.size);
  parameters.phGraph_out = (*node)->bodies->data();
  return cudaSuccess;
}

cudaError_t end_capture_to_graph(cudaStream_t stream, cudaGraph_t& captured) {
  CaptureTarget target;
  {
    const std::lock_guard lock(conditions().mutex);
    const auto found = conditions().captures.find(stream);
    if (found == conditions().captures.end()) return cudaSuccess;
    target = std::move(found->second);
    conditions().captures.erase(found);
  }
  if (captured == nullptr) return cudaSuccess;  // the capture has failed
  cudaGraphNode_t node = nullptr;
  const cudaError_t error = add_captured_graph(&node, target.graph, nullptr, 0, captured);
  if (error != cudaSuccess) return error;
  captured = target.graph;
  const std::vector<cudaGraphNode_t> to(target.dependencies.size(), node);
  return cudaGraphAddDependencies_v2(target.graph, target.dependencies.data(), to.data(),
                                     target.edges.empty() ? nullptr : target.edges.data(),
                                     to.size());
}

}  // namespace rung::emu

extern "C" {

/// The condition's memory is kept until the program ends, as kernels may have its address.
cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned int value, unsigned int flags) {
  if (handle == nullptr || !is_own(graph) || flags > cudaGraphCondAssignDefault) {
    return finish(cudaErrorInvalidValue);
  }
  if (uses_given_driver()) return finish(cudaErrorNotSupported);
  const cudaError_t error = with_context([&](const cuda::DriverApi& api) {
    cuda::DevicePointer condition = 0;
    const cuda::Result result = api.cuMemAlloc(&condition, sizeof(unsigned));
    if (result == cuda::Result::success) *handle = condition;
    return result;
  });
  if (error != cudaSuccess) return error;
  rung::vgpu::NodeGraph::Start start = {*handle, {}};
  if (flags == cudaGraphCondAssignDefault) start.value = value;
  graph->starts.push_back(start);
  const std::lock_guard lock(conditions().mutex);
  conditions().has_node[*handle] = false;
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* dependencies,
                                          const cudaGraphEdgeData* edges, size_t count,
                                          cudaStreamCaptureMode mode) {
  if (!is_own(graph) || (count != 0 && dependencies == nullptr)) {
    return finish(cudaErrorInvalidValue);
  }
  if (const cudaError_t error = cudaStreamBeginCapture(stream, mode)) return error;
  CaptureTarget target = {graph, {dependencies, dependencies + count}, {}};
  if (edges != nullptr) target.edges.assign(edges, edges + count);
  const std::lock_guard lock(conditions().mutex);
  conditions().captures[stream] = std::move(target);
  return cudaSuccess;
}

}  // extern "C"
