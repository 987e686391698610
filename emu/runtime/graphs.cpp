// Graphs. A graph that was captured is the driver's. One that is made of nodes has each node
// captured by itself, when it is added or changed, because a kernel's arguments are read then; the
// executable graph launches the nodes one after the other.

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "cuda_runtime_api.h"
#include "emu/runtime/graph_memory.hpp"
#include "emu/runtime/graphs.hpp"
#include "emu/runtime/runtime.hpp"
#include "vgpu/driver/virtual_driver.hpp"

using namespace rung::emu;
namespace cuda = rung::cuda;
using cuda::DriverApi;

namespace {

std::mutex mutex;
std::set<cudaGraph_t>& own_graphs() {
  static auto& graphs = *new std::set<cudaGraph_t>;
  return graphs;
}

void destroy_captured(cuda::Graph* graph) {
  driver().cuGraphDestroy(*graph);
  delete graph;
}

}  // namespace

namespace rung::emu {

bool is_own(cudaGraph_t graph) {
  const std::lock_guard lock(mutex);
  return own_graphs().contains(graph);
}

cudaError_t add_captured_graph(cudaGraphNode_t* node, cudaGraph_t graph,
                               const cudaGraphNode_t* dependencies, size_t count,
                               cudaGraph_t captured) {
  const cudaError_t error =
      add_graph_node(node, graph, dependencies, count, cudaGraphNodeTypeGraph, nullptr);
  if (error != cudaSuccess) return error;
  (*node)->captured.reset(new cuda::Graph(to_driver(captured)), destroy_captured);
  return cudaSuccess;
}

cudaError_t capture(const GraphWork& enqueue, std::shared_ptr<cuda::Graph>& captured) {
  cudaStream_t stream = nullptr;
  cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  if (error != cudaSuccess) return error;
  error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
  if (error == cudaSuccess) {
    const cudaError_t enqueued = enqueue(stream);
    cudaGraph_t graph = nullptr;
    error = cudaStreamEndCapture(stream, &graph);
    if (enqueued != cudaSuccess) error = enqueued;
    if (error == cudaSuccess) {
      captured.reset(new cuda::Graph(to_driver(graph)), destroy_captured);
    }
  }
  cudaStreamDestroy(stream);
  return error;
}

cudaError_t add_graph_node(cudaGraphNode_t* node, cudaGraph_t graph,
                           const cudaGraphNode_t* dependencies, size_t count,
                           cudaGraphNodeType type, const GraphWork& enqueue) {
  if (node == nullptr || !is_own(graph)) return finish(cudaErrorInvalidValue);
  auto made = std::make_unique<CUgraphNode_st>();
  made->type = type;
  made->graph = graph;
  if (dependencies != nullptr) made->dependencies.assign(dependencies, dependencies + count);
  if (enqueue) {
    if (const cudaError_t error = capture(enqueue, made->captured)) return finish(error);
  }
  *node = made.get();
  graph->nodes.push_back(std::move(made));
  return cudaSuccess;
}

GraphWork kernel_launch(const cudaKernelNodeParams& parameters) {
  return [parameters](cudaStream_t stream) {
    return cudaLaunchKernel(parameters.func, parameters.gridDim, parameters.blockDim,
                            parameters.kernelParams, parameters.sharedMemBytes, stream);
  };
}

}  // namespace rung::emu

namespace {

GraphWork memory_work(void* pointer, bool frees) {
  return [=](cudaStream_t stream) { return replace_graph_memory(pointer, frees, stream); };
}

/// The nodes in the order in which they were added, but each after its dependencies.
std::vector<cudaGraphNode_t> in_order(const CUgraph_st& graph) {
  std::vector<cudaGraphNode_t> order;
  std::set<cudaGraphNode_t> placed;
  while (order.size() < graph.nodes.size()) {
    const std::size_t before = order.size();
    for (const auto& node : graph.nodes) {
      if (placed.contains(node.get())) continue;
      const auto is_placed = [&](cudaGraphNode_t other) { return placed.contains(other); };
      if (!std::all_of(node->dependencies.begin(), node->dependencies.end(), is_placed)) continue;
      order.push_back(node.get());
      placed.insert(node.get());
    }
    if (order.size() == before) return {};  // a cycle
  }
  return order;
}

rung::vgpu::GraphEdge::Port port_of(const cudaGraphEdgeData& edge) {
  using enum rung::vgpu::GraphEdge::Port;
  return edge.from_port == cudaGraphKernelNodePortLaunchCompletion ? start : trigger;
}

/// True for a dependency on all of a node, or a programmatic one between kernels.
bool is_edge(const cudaGraphEdgeData& edge, cudaGraphNode_t from, cudaGraphNode_t to) {
  if (edge.to_port != 0) return false;
  if (edge.type == cudaGraphDependencyTypeDefault) return edge.from_port == 0;
  return edge.type == cudaGraphDependencyTypeProgrammatic &&
         (edge.from_port == cudaGraphKernelNodePortProgrammatic ||
          edge.from_port == cudaGraphKernelNodePortLaunchCompletion) &&
         from->type == cudaGraphNodeTypeKernel && to->type == cudaGraphNodeTypeKernel;
}

cuda::Result instantiate_bodies(const DriverApi& api, CUgraphExec_st& executable,
                                const CUgraphNode_st& node, unsigned long long flags);

cuda::Result instantiate(const DriverApi& api, CUgraphExec_st& executable, cudaGraph_t graph,
                         unsigned long long flags) {
  const auto add = [&](cuda::Graph part, cudaGraphNode_t node,
                       std::vector<rung::vgpu::GraphEdge> after = {}) {
    cuda::GraphExec made = nullptr;
    const cuda::Result result = api.cuGraphInstantiate(&made, part, flags);
    if (result != cuda::Result::success) return result;
    executable.parts.push_back(made);
    executable.nodes.push_back(node);
    executable.after.push_back(std::move(after));
    return result;
  };
  if (!is_own(graph)) return add(to_driver(graph), nullptr);
  executable.starts = graph->starts;
  const std::vector<cudaGraphNode_t> order = in_order(*graph);
  if (order.size() != graph->nodes.size()) return cuda::Result::invalid_value;
  // A node without work passes the parts that it depends on to the nodes after it.
  std::map<cudaGraphNode_t, std::vector<rung::vgpu::GraphEdge>> ends;
  for (const cudaGraphNode_t node : order) {
    std::vector<rung::vgpu::GraphEdge>& end = ends[node];
    for (const cudaGraphNode_t other : node->dependencies) {
      const auto edge = node->programmatic.find(other);
      for (rung::vgpu::GraphEdge before : ends[other]) {
        if (edge != node->programmatic.end()) before.port = port_of(edge->second);
        end.push_back(before);
      }
    }
    if (node->captured == nullptr) continue;
    if (const auto result = add(*node->captured, node, end); result != cuda::Result::success) {
      return result;
    }
    end = {{executable.parts.size() - 1}};
    if (node->bodies == nullptr) continue;
    const auto result = instantiate_bodies(api, executable, *node, flags);
    if (result != cuda::Result::success) return result;
  }
  return cuda::Result::success;
}

/// The last part is the node's.
cuda::Result instantiate_bodies(const DriverApi& api, CUgraphExec_st& executable,
                                const CUgraphNode_st& node, unsigned long long flags) {
  executable.conditionals.push_back({executable.parts.size() - 1, node.conditional, {}});
  for (const cudaGraph_t body : *node.bodies) {
    const auto is_allowed = [](const auto& own) { return may_be_in_body(own->type); };
    if (!std::all_of(body->nodes.begin(), body->nodes.end(), is_allowed)) {
      return cuda::Result::not_supported;
    }
    auto& bodies = executable.conditionals.back().bodies;
    const auto result = instantiate(api, bodies.emplace_back(), body, flags);
    if (result != cuda::Result::success) return result;
  }
  return cuda::Result::success;
}

rung::vgpu::NodeGraph as_node_graph(const CUgraphExec_st& executable) {
  rung::vgpu::NodeGraph graph = {executable.parts, executable.after, {}, executable.starts};
  for (const auto& [part, node, bodies] : executable.conditionals) {
    rung::vgpu::ConditionalNode& conditional = graph.conditional[part] = node;
    for (const CUgraphExec_st& body : bodies) conditional.bodies.push_back(as_node_graph(body));
  }
  return graph;
}

void destroy_parts(const DriverApi& api, CUgraphExec_st& executable) {
  for (const cuda::GraphExec part : executable.parts) api.cuGraphExecDestroy(part);
  for (auto& conditional : executable.conditionals) {
    for (CUgraphExec_st& body : conditional.bodies) destroy_parts(api, body);
  }
  executable.conditionals.clear();
  executable.starts.clear();
  executable.parts.clear();
  executable.nodes.clear();
  executable.after.clear();
}

cudaError_t list(const std::vector<cudaGraphNode_t>& found, cudaGraphNode_t* nodes, size_t* count) {
  if (count == nullptr) return finish(cudaErrorInvalidValue);
  if (nodes != nullptr) std::copy_n(found.begin(), std::min(*count, found.size()), nodes);
  *count = found.size();
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int /*flags*/) {
  if (graph == nullptr) return finish(cudaErrorInvalidValue);
  *graph = new CUgraph_st;
  const std::lock_guard lock(mutex);
  own_graphs().insert(*graph);
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  if (!is_own(graph)) {
    return with_context([&](const DriverApi& api) { return api.cuGraphDestroy(to_driver(graph)); });
  }
  {
    const std::lock_guard lock(mutex);
    own_graphs().erase(graph);
  }
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  if (clone == nullptr) return finish(cudaErrorInvalidValue);
  if (const cudaError_t error = cudaGraphCreate(clone, 0)) return error;
  if (!is_own(graph)) {
    cudaGraphNode_t node = nullptr;
    return cudaGraphAddChildGraphNode(&node, *clone, nullptr, 0, graph);
  }
  std::map<cudaGraphNode_t, cudaGraphNode_t> copies;
  for (const auto& node : graph->nodes) {
    (*clone)->nodes.push_back(std::make_unique<CUgraphNode_st>(*node));
    copies[node.get()] = (*clone)->nodes.back().get();
    (*clone)->nodes.back()->cloned_from = node.get();
    (*clone)->nodes.back()->graph = *clone;
  }
  for (const auto& node : (*clone)->nodes) {
    for (cudaGraphNode_t& other : node->dependencies) other = copies.at(other);
    std::map<cudaGraphNode_t, cudaGraphEdgeData> programmatic;
    for (const auto& [other, edge] : node->programmatic) programmatic[copies.at(other)] = edge;
    node->programmatic = std::move(programmatic);
  }
  return cudaSuccess;
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const cudaKernelNodeParams* parameters) {
  if (parameters == nullptr) return finish(cudaErrorInvalidValue);
  const cudaError_t error = add_graph_node(node, graph, dependencies, count,
                                           cudaGraphNodeTypeKernel, kernel_launch(*parameters));
  if (error == cudaSuccess) (*node)->kernel = *parameters;
  return error;
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* dependencies, size_t count) {
  return add_graph_node(node, graph, dependencies, count, cudaGraphNodeTypeEmpty, nullptr);
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* dependencies, size_t count,
                                       cudaGraph_t child) {
  const cudaError_t added = add_graph_node(
      node, graph, dependencies, count, cudaGraphNodeTypeGraph, [child](cudaStream_t stream) {
        cudaGraphExec_t executable = nullptr;
        cudaError_t error = cudaGraphInstantiate(&executable, child, 0);
        if (error == cudaSuccess) error = cudaGraphLaunch(executable, stream);
        if (executable != nullptr) cudaGraphExecDestroy(executable);
        return error;
      });
  if (added == cudaSuccess) (*node)->child = child;
  return added;
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, size_t count,
                                     cudaMemAllocNodeParams* parameters) {
  if (parameters == nullptr) return finish(cudaErrorInvalidValue);
  if (const cudaError_t error = allocate_graph_memory(&parameters->dptr, parameters->bytesize)) {
    return error;
  }
  const cudaError_t error =
      add_graph_node(node, graph, dependencies, count, cudaGraphNodeTypeMemAlloc,
                     memory_work(parameters->dptr, false));
  if (error == cudaSuccess) (*node)->allocated = *parameters;
  return error;
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* dependencies, size_t count,
                                    void* pointer) {
  if (!is_graph_memory(pointer)) return finish(cudaErrorInvalidValue);
  const cudaError_t error = add_graph_node(node, graph, dependencies, count,
                                           cudaGraphNodeTypeMemFree, memory_work(pointer, true));
  if (error == cudaSuccess) (*node)->allocated.dptr = pointer;
  return error;
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                           cudaMemAllocNodeParams* parameters) {
  if (node == nullptr || parameters == nullptr || node->type != cudaGraphNodeTypeMemAlloc) {
    return finish(cudaErrorInvalidValue);
  }
  *parameters = node->allocated;
  return cudaSuccess;
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
  if (node == nullptr || pointer == nullptr || node->type != cudaGraphNodeTypeMemFree) {
    return finish(cudaErrorInvalidValue);
  }
  *static_cast<void**>(pointer) = node->allocated.dptr;
  return cudaSuccess;
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, size_t count) {
  if (!is_own(graph)) return finish(cudaErrorInvalidValue);
  for (std::size_t i = 0; i < count; ++i) to[i]->dependencies.push_back(from[i]);
  return cudaSuccess;
}

cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData* edges,
                                        size_t count) {
  for (std::size_t i = 0; edges != nullptr && i < count; ++i) {
    if (!is_edge(edges[i], from[i], to[i])) return finish(cudaErrorInvalidValue);
  }
  if (const cudaError_t error = cudaGraphAddDependencies(graph, from, to, count)) return error;
  for (std::size_t i = 0; edges != nullptr && i < count; ++i) {
    if (edges[i].type == cudaGraphDependencyTypeProgrammatic)
      to[i]->programmatic[from[i]] = edges[i];
  }
  return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  std::vector<cudaGraphNode_t> found;
  if (is_own(graph)) {
    for (const auto& node : graph->nodes) found.push_back(node.get());
    return list(found, nodes, count);
  }
  if (nodes != nullptr) return finish(cudaErrorNotSupported);  // a captured graph has no handles
  found.resize(rung::vgpu::graph_operations(to_driver(graph)));
  return list(found, nullptr, count);
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  if (!is_own(graph)) return finish(cudaErrorNotSupported);
  std::vector<cudaGraphNode_t> found;
  for (const auto& node : graph->nodes) {
    if (node->dependencies.empty()) found.push_back(node.get());
  }
  return list(found, nodes, count);
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  if (node == nullptr || type == nullptr) return finish(cudaErrorInvalidValue);
  *type = node->type;
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long flags) {
  if (executable == nullptr) return finish(cudaErrorInvalidValue);
  return with_context([&](const DriverApi& api) {
    auto made = std::make_unique<CUgraphExec_st>();
    const cuda::Result result = instantiate(api, *made, graph, flags);
    if (result == cuda::Result::success) *executable = made.release();
    return result;
  });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(executable, graph, flags);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  if (executable == nullptr) return finish(cudaErrorInvalidValue);
  return with_context([&](const DriverApi& api) {
    if (!uses_given_driver() &&
        (executable->parts.size() > 1 || !executable->conditionals.empty())) {
      return rung::vgpu::launch_as_nodes(as_node_graph(*executable), to_driver(stream));
    }
    for (const cuda::GraphExec part : executable->parts) {
      const cuda::Result result = api.cuGraphLaunch(part, to_driver(stream));
      if (result != cuda::Result::success) return result;
    }
    return cuda::Result::success;
  });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t /*stream*/) {
  return executable == nullptr ? finish(cudaErrorInvalidValue) : cudaSuccess;
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
  if (executable == nullptr || info == nullptr) return finish(cudaErrorInvalidValue);
  *info = {cudaGraphExecUpdateSuccess, nullptr, nullptr};
  return with_context([&](const DriverApi& api) {
    CUgraphExec_st updated;
    const cuda::Result result = instantiate(api, updated, graph, 0);
    if (result != cuda::Result::success) {
      info->result = cudaGraphExecUpdateError;
      return result;
    }
    destroy_parts(api, *executable);
    *executable = std::move(updated);
    return result;
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  if (executable == nullptr) return finish(cudaErrorInvalidValue);
  return with_context([&](const DriverApi& api) {
    destroy_parts(api, *executable);
    delete executable;
    return cuda::Result::success;
  });
}

}  // extern "C"
