// The nodes of a graph: copies, fills, host functions and events. Queries and changes, in the graph or in
// its executable graph.

#include <algorithm>
#include <vector>

#include "emu/runtime/graphs.hpp"

using namespace rung::emu;
namespace cuda = rung::cuda;

namespace {

GraphWork copy_work(const cudaMemcpy3DParms& copy) {
  return [copy](cudaStream_t stream) { return cudaMemcpy3DAsync(&copy, stream); };
}

GraphWork copy_work(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return [=](cudaStream_t stream) { return cudaMemcpyAsync(to, from, bytes, kind, stream); };
}

cudaMemcpy3DParms as_box(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(const_cast<void*>(from), bytes, bytes, 1);
  copy.dstPtr = make_cudaPitchedPtr(to, bytes, bytes, 1);
  copy.extent = make_cudaExtent(bytes, 1, 1);
  copy.kind = kind;
  return copy;
}

GraphWork fill_work(const cudaMemsetParams& fill) {
  return [fill](cudaStream_t stream) {
    if (fill.elementSize == 1) {
      const std::size_t pitch = fill.height > 1 ? fill.pitch : fill.width;
      return cudaMemset2DAsync(fill.dst, pitch, static_cast<int>(fill.value), fill.width,
                               fill.height, stream);
    }
    for (std::size_t y = 0; y < fill.height; ++y) {
      const auto row = device_pointer(fill.dst) + y * fill.pitch;
      const cuda::Result result =
          fill.elementSize == 2
              ? driver().cuMemsetD16Async(row, static_cast<unsigned short>(fill.value), fill.width,
                                          to_driver(stream))
              : driver().cuMemsetD32Async(row, fill.value, fill.width, to_driver(stream));
      if (result != cuda::Result::success) return finish(result);
    }
    return cudaSuccess;
  };
}

GraphWork host_work(const cudaHostNodeParams& host) {
  return [host](cudaStream_t stream) { return cudaLaunchHostFunc(stream, host.fn, host.userData); };
}

bool is_of_type(cudaGraphNode_t node, cudaGraphNodeType type) {
  return node != nullptr && node->type == type;
}

/// Changes the work of a node. Executable graphs keep their work.
cudaError_t change(cudaGraphNode_t node, const GraphWork& work) {
  std::shared_ptr<cuda::Graph> captured;
  if (const cudaError_t error = capture(work, captured)) return finish(error);
  node->captured = captured;
  return cudaSuccess;
}

/// The part that was made of this node, also in the bodies of conditional nodes; otherwise null.
cuda::GraphExec* find_part(CUgraphExec_st& executable, cudaGraphNode_t node) {
  for (std::size_t i = 0; i < executable.nodes.size(); ++i) {
    if (executable.nodes[i] == node) return &executable.parts[i];
  }
  for (auto& conditional : executable.conditionals) {
    for (CUgraphExec_st& body : conditional.bodies) {
      if (cuda::GraphExec* const part = find_part(body, node)) return part;
    }
  }
  return nullptr;
}

/// Changes the part of an executable graph that was made of this node.
cudaError_t change_part(cudaGraphExec_t executable, cudaGraphNode_t node, const GraphWork& work) {
  if (executable == nullptr) return finish(cudaErrorInvalidValue);
  cuda::GraphExec* const part = find_part(*executable, node);
  if (part == nullptr) return finish(cudaErrorInvalidValue);
  std::shared_ptr<cuda::Graph> captured;
  if (const cudaError_t error = capture(work, captured)) return finish(error);
  return with_context([&](const cuda::DriverApi& api) {
    cuda::GraphExec made = nullptr;
    const cuda::Result result = api.cuGraphInstantiate(&made, *captured, 0);
    if (result != cuda::Result::success) return result;
    std::swap(made, *part);
    return api.cuGraphExecDestroy(made);
  });
}

cudaError_t add_copy(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                     size_t count, const GraphWork& work, const cudaMemcpy3DParms& copy) {
  const cudaError_t error =
      add_graph_node(node, graph, dependencies, count, cudaGraphNodeTypeMemcpy, work);
  if (error == cudaSuccess) (*node)->copy = copy;
  return error;
}

/// The address of a variable of the device, from an offset on.
cudaError_t symbol_address(const void* symbol, size_t bytes, size_t offset, char*& address) {
  void* begin = nullptr;
  size_t size = 0;
  cudaError_t error = cudaGetSymbolAddress(&begin, symbol);
  if (error == cudaSuccess) error = cudaGetSymbolSize(&size, symbol);
  if (error == cudaSuccess && offset + bytes > size) error = finish(cudaErrorInvalidValue);
  address = static_cast<char*>(begin) + offset;
  return error;
}

}  // namespace

extern "C" {

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const cudaMemcpy3DParms* copy) {
  if (copy == nullptr) return finish(cudaErrorInvalidValue);
  return add_copy(node, graph, dependencies, count, copy_work(*copy), *copy);
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, size_t count, void* to,
                                     const void* from, size_t bytes, cudaMemcpyKind kind) {
  return add_copy(node, graph, dependencies, count, copy_work(to, from, bytes, kind),
                  as_box(to, from, bytes, kind));
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                           const cudaGraphNode_t* dependencies, size_t count,
                                           const void* symbol, const void* from, size_t bytes,
                                           size_t offset, cudaMemcpyKind kind) {
  char* to = nullptr;
  if (const cudaError_t error = symbol_address(symbol, bytes, offset, to)) return error;
  return cudaGraphAddMemcpyNode1D(node, graph, dependencies, count, to, from, bytes, kind);
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                             const cudaGraphNode_t* dependencies, size_t count,
                                             void* to, const void* symbol, size_t bytes,
                                             size_t offset, cudaMemcpyKind kind) {
  char* from = nullptr;
  if (const cudaError_t error = symbol_address(symbol, bytes, offset, from)) return error;
  return cudaGraphAddMemcpyNode1D(node, graph, dependencies, count, to, from, bytes, kind);
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* copy) {
  if (!is_of_type(node, cudaGraphNodeTypeMemcpy) || copy == nullptr) {
    return finish(cudaErrorInvalidValue);
  }
  *copy = node->copy;
  return cudaSuccess;
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* copy) {
  if (!is_of_type(node, cudaGraphNodeTypeMemcpy) || copy == nullptr) {
    return finish(cudaErrorInvalidValue);
  }
  const cudaError_t error = change(node, copy_work(*copy));
  if (error == cudaSuccess) node->copy = *copy;
  return error;
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                           size_t bytes, cudaMemcpyKind kind) {
  if (!is_of_type(node, cudaGraphNodeTypeMemcpy)) return finish(cudaErrorInvalidValue);
  const cudaError_t error = change(node, copy_work(to, from, bytes, kind));
  if (error == cudaSuccess) node->copy = as_box(to, from, bytes, kind);
  return error;
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* copy) {
  if (copy == nullptr) return finish(cudaErrorInvalidValue);
  return change_part(executable, node, copy_work(*copy));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node,
                                               void* to, const void* from, size_t bytes,
                                               cudaMemcpyKind kind) {
  return change_part(executable, node, copy_work(to, from, bytes, kind));
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const cudaMemsetParams* fill) {
  if (fill == nullptr) return finish(cudaErrorInvalidValue);
  const cudaError_t error =
      add_graph_node(node, graph, dependencies, count, cudaGraphNodeTypeMemset, fill_work(*fill));
  if (error == cudaSuccess) (*node)->fill = *fill;
  return error;
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* fill) {
  if (!is_of_type(node, cudaGraphNodeTypeMemset) || fill == nullptr) {
    return finish(cudaErrorInvalidValue);
  }
  *fill = node->fill;
  return cudaSuccess;
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* fill) {
  if (!is_of_type(node, cudaGraphNodeTypeMemset) || fill == nullptr) {
    return finish(cudaErrorInvalidValue);
  }
  const cudaError_t error = change(node, fill_work(*fill));
  if (error == cudaSuccess) node->fill = *fill;
  return error;
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemsetParams* fill) {
  if (fill == nullptr) return finish(cudaErrorInvalidValue);
  return change_part(executable, node, fill_work(*fill));
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, size_t count,
                                 const cudaHostNodeParams* host) {
  if (host == nullptr) return finish(cudaErrorInvalidValue);
  const cudaError_t error =
      add_graph_node(node, graph, dependencies, count, cudaGraphNodeTypeHost, host_work(*host));
  if (error == cudaSuccess) (*node)->host = *host;
  return error;
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* host) {
  if (!is_of_type(node, cudaGraphNodeTypeHost) || host == nullptr) {
    return finish(cudaErrorInvalidValue);
  }
  *host = node->host;
  return cudaSuccess;
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* host) {
  if (!is_of_type(node, cudaGraphNodeTypeHost) || host == nullptr) {
    return finish(cudaErrorInvalidValue);
  }
  const cudaError_t error = change(node, host_work(*host));
  if (error == cudaSuccess) node->host = *host;
  return error;
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           const cudaHostNodeParams* host) {
  if (host == nullptr) return finish(cudaErrorInvalidValue);
  return change_part(executable, node, host_work(*host));
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters) {
  if (!is_of_type(node, cudaGraphNodeTypeKernel) || parameters == nullptr) {
    return finish(cudaErrorInvalidValue);
  }
  *parameters = node->kernel;
  return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const cudaKernelNodeParams* parameters) {
  if (!is_of_type(node, cudaGraphNodeTypeKernel) || parameters == nullptr) {
    return finish(cudaErrorInvalidValue);
  }
  const cudaError_t error = change(node, kernel_launch(*parameters));
  if (error == cudaSuccess) node->kernel = *parameters;
  return error;
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters) {
  if (parameters == nullptr) return finish(cudaErrorInvalidValue);
  return change_part(executable, node, kernel_launch(*parameters));
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* dependencies, size_t count,
                                        cudaEvent_t event) {
  if (event == nullptr) return finish(cudaErrorInvalidValue);
  const cudaError_t error = add_graph_node(
      node, graph, dependencies, count, cudaGraphNodeTypeEventRecord, [event](cudaStream_t stream) {
        return cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal);
      });
  if (error == cudaSuccess) (*node)->event = event;
  return error;
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* dependencies, size_t count,
                                      cudaEvent_t event) {
  if (event == nullptr) return finish(cudaErrorInvalidValue);
  const cudaError_t error = add_graph_node(
      node, graph, dependencies, count, cudaGraphNodeTypeWaitEvent, [event](cudaStream_t stream) {
        return cudaStreamWaitEvent(stream, event, cudaEventWaitExternal);
      });
  if (error == cudaSuccess) (*node)->event = event;
  return error;
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  if (!is_of_type(node, cudaGraphNodeTypeEventRecord) || event == nullptr) {
    return finish(cudaErrorInvalidValue);
  }
  *event = node->event;
  return cudaSuccess;
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  if (!is_of_type(node, cudaGraphNodeTypeWaitEvent) || event == nullptr) {
    return finish(cudaErrorInvalidValue);
  }
  *event = node->event;
  return cudaSuccess;
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                             const cudaGraphNode_t* dependencies, size_t count,
                             cudaGraphNodeParams* parameters) {
  if (parameters == nullptr) return finish(cudaErrorInvalidValue);
  cudaGraphNodeParams& given = *parameters;
  switch (given.type) {
    case cudaGraphNodeTypeKernel:
      return cudaGraphAddKernelNode(node, graph, dependencies, count, &given.kernel);
    case cudaGraphNodeTypeMemcpy:
      return cudaGraphAddMemcpyNode(node, graph, dependencies, count, &given.memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
      return cudaGraphAddMemsetNode(node, graph, dependencies, count, &given.memset);
    case cudaGraphNodeTypeHost:
      return cudaGraphAddHostNode(node, graph, dependencies, count, &given.host);
    case cudaGraphNodeTypeGraph:
      return cudaGraphAddChildGraphNode(node, graph, dependencies, count, given.graph.graph);
    case cudaGraphNodeTypeEmpty: return cudaGraphAddEmptyNode(node, graph, dependencies, count);
    case cudaGraphNodeTypeWaitEvent:
      return cudaGraphAddEventWaitNode(node, graph, dependencies, count, given.eventWait.event);
    case cudaGraphNodeTypeEventRecord:
      return cudaGraphAddEventRecordNode(node, graph, dependencies, count, given.eventRecord.event);
    case cudaGraphNodeTypeMemAlloc:
      return cudaGraphAddMemAllocNode(node, graph, dependencies, count, &given.alloc);
    case cudaGraphNodeTypeMemFree:
      return cudaGraphAddMemFreeNode(node, graph, dependencies, count, given.free.dptr);
    case cudaGraphNodeTypeConditional:
      return add_conditional_node(node, graph, dependencies, count, given.conditional);
  }
  return finish(cudaErrorInvalidValue);
}

cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t* node, cudaGraph_t graph,
                                const cudaGraphNode_t* dependencies, const cudaGraphEdgeData* edges,
                                size_t count, cudaGraphNodeParams* parameters) {
  const cudaError_t error = cudaGraphAddNode(node, graph, edges == nullptr ? dependencies : nullptr,
                                             edges == nullptr ? count : 0, parameters);
  if (error != cudaSuccess || edges == nullptr) return error;
  const std::vector<cudaGraphNode_t> to(count, *node);
  const cudaError_t edge_error =
      cudaGraphAddDependencies_v2(graph, dependencies, to.data(), edges, count);
  if (edge_error != cudaSuccess) cudaGraphDestroyNode(*node);
  return edge_error;
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  if (!is_of_type(node, cudaGraphNodeTypeGraph) || graph == nullptr) {
    return finish(cudaErrorInvalidValue);
  }
  *graph = node->child;
  return cudaSuccess;
}

}  // extern "C"
