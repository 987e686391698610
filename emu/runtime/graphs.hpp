#pragma once
// Graphs that are made of nodes, and what adds and changes nodes.

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "cuda_runtime_api.h"
#include "emu/runtime/runtime.hpp"
#include "vgpu/driver/virtual_driver.hpp"

/// A node. Its work is captured when it is added or changed, because CUDA reads arguments at that time.
struct CUgraphNode_st {
  cudaGraphNodeType type;
  cudaGraph_t graph = nullptr;  // that it is in
  std::vector<cudaGraphNode_t> dependencies;
  std::map<cudaGraphNode_t, cudaGraphEdgeData>
      programmatic;                             // those of the edges from dependencies
  std::shared_ptr<rung::cuda::Graph> captured;  // destroyed with the last node that has it
  cudaKernelNodeParams kernel{};                // as it was given: the arguments may be gone
  cudaMemAllocNodeParams allocated{};  // what a node allocates or, by its address alone, frees
  cudaMemcpy3DParms copy{};
  cudaMemsetParams fill{};
  cudaHostNodeParams host{};
  cudaEvent_t event = nullptr;
  cudaGraph_t child = nullptr;
  rung::vgpu::ConditionalNode conditional{};         // without its bodies
  std::shared_ptr<std::vector<cudaGraph_t>> bodies;  // destroyed with the last node that has them
  cudaGraphNode_t cloned_from = nullptr;
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
  std::vector<rung::vgpu::NodeGraph::Start> starts;  // of the conditions made for this graph
};

struct CUgraphExec_st {
  std::vector<rung::cuda::GraphExec> parts;  // in the order of their launches
  std::vector<cudaGraphNode_t> nodes;        // node i made part i; empty for a captured graph
  std::vector<std::vector<rung::vgpu::GraphEdge>> after;  // the parts that part i depends on
  struct Conditional {
    std::size_t part;
    rung::vgpu::ConditionalNode node;  // without its bodies
    std::vector<CUgraphExec_st> bodies;
  };
  std::vector<Conditional> conditionals;
  std::vector<rung::vgpu::NodeGraph::Start> starts;
};

namespace rung::emu {

/// Puts a node's work into a stream.
using GraphWork = std::function<cudaError_t(cudaStream_t)>;

/// Captures the operations that `work` enqueues as a graph of the driver.
cudaError_t capture(const GraphWork& work, std::shared_ptr<cuda::Graph>& captured);

/// A node without work, if that is empty.
cudaError_t add_graph_node(cudaGraphNode_t* node, cudaGraph_t graph,
                           const cudaGraphNode_t* dependencies, size_t count,
                           cudaGraphNodeType type, const GraphWork& work);

/// True for a graph that is made of nodes.
bool is_own(cudaGraph_t graph);

/// A node that runs a graph of the driver.
cudaError_t add_captured_graph(cudaGraphNode_t* node, cudaGraph_t graph,
                               const cudaGraphNode_t* dependencies, size_t count,
                               cudaGraph_t captured);

cudaError_t add_conditional_node(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, size_t count,
                                 cudaConditionalNodeParams& parameters);

/// True if a conditional node's graph may have such a node (CUDA Runtime API, cudaConditionalNodeParams).
bool may_be_in_body(cudaGraphNodeType type);

/// The stream's capture has ended, and became `captured`. If it was begun for a graph, its operations are added to
/// that one, which replaces `captured`.
cudaError_t end_capture_to_graph(cudaStream_t stream, cudaGraph_t& captured);

GraphWork kernel_launch(const cudaKernelNodeParams& parameters);

}  // namespace rung::emu
