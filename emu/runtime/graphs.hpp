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
  cudaGraphNode_t cloned_from = nullptr;
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};

struct CUgraphExec_st {
  std::vector<rung::cuda::GraphExec> parts;  // in the order of their launches
  std::vector<cudaGraphNode_t> nodes;        // node i made part i; empty for a captured graph
  std::vector<std::vector<rung::vgpu::GraphEdge>> after;  // the parts that part i depends on
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

GraphWork kernel_launch(const cudaKernelNodeParams& parameters);

}  // namespace rung::emu
