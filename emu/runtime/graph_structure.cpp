// Calls about the structure of a graph: its dependencies, edges and clones, and a drawing of it.

#include <algorithm>
#include <cstdio>

#include "emu/runtime/graphs.hpp"

using namespace rung::emu;

namespace {

cudaError_t list_nodes(const std::vector<cudaGraphNode_t>& found, cudaGraphNode_t* nodes,
                       size_t* count) {
  if (count == nullptr) return finish(cudaErrorInvalidValue);
  if (nodes != nullptr) std::copy_n(found.begin(), std::min(*count, found.size()), nodes);
  *count = found.size();
  return cudaSuccess;
}

const char* type_name(cudaGraphNodeType type) {
  switch (type) {
    case cudaGraphNodeTypeKernel: return "KERNEL";
    case cudaGraphNodeTypeMemcpy: return "MEMCPY";
    case cudaGraphNodeTypeMemset: return "MEMSET";
    case cudaGraphNodeTypeHost: return "HOST";
    case cudaGraphNodeTypeGraph: return "GRAPH";
    case cudaGraphNodeTypeEmpty: return "EMPTY";
    case cudaGraphNodeTypeWaitEvent: return "EVENT_WAIT";
    case cudaGraphNodeTypeEventRecord: return "EVENT_RECORD";
    case cudaGraphNodeTypeMemAlloc: return "MEM_ALLOC";
    case cudaGraphNodeTypeMemFree: return "MEM_FREE";
    case cudaGraphNodeTypeConditional: return "CONDITIONAL";
  }
  return "?";
}

}  // namespace

extern "C" {

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* found, cudaGraphNode_t original,
                                     cudaGraph_t clone) {
  if (found == nullptr || clone == nullptr) return finish(cudaErrorInvalidValue);
  for (const auto& node : clone->nodes) {
    if (node->cloned_from != original) continue;
    *found = node.get();
    return cudaSuccess;
  }
  return finish(cudaErrorInvalidValue);
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* dependencies,
                                         size_t* count) {
  if (node == nullptr) return finish(cudaErrorInvalidValue);
  return list_nodes(node->dependencies, dependencies, count);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* dependents,
                                           size_t* count) {
  if (node == nullptr) return finish(cudaErrorInvalidValue);
  std::vector<cudaGraphNode_t> found;
  for (const auto& other : node->graph->nodes) {
    const auto& before = other->dependencies;
    if (std::find(before.begin(), before.end(), node) != before.end()) found.push_back(other.get());
  }
  return list_nodes(found, dependents, count);
}

/// Executable graphs that were instantiated earlier keep the node.
cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  if (node == nullptr) return finish(cudaErrorInvalidValue);
  auto& nodes = node->graph->nodes;
  for (const auto& other : nodes) {
    std::erase(other->dependencies, node);
    other->programmatic.erase(node);
  }
  std::erase_if(nodes, [&](const auto& own) { return own.get() == node; });
  return cudaSuccess;
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              size_t* count) {
  if (count == nullptr || graph == nullptr) return finish(cudaErrorInvalidValue);
  std::vector<cudaGraphNode_t> begins, ends;
  size_t nodes = 0;
  // This fails for a captured graph, whose nodes have no handles.
  if (const cudaError_t error = cudaGraphGetNodes(graph, nullptr, &nodes)) return error;
  std::vector<cudaGraphNode_t> all(nodes);
  if (const cudaError_t error = cudaGraphGetNodes(graph, all.data(), &nodes)) return error;
  for (const cudaGraphNode_t node : all) {
    for (const cudaGraphNode_t other : node->dependencies) {
      begins.push_back(other);
      ends.push_back(node);
    }
  }
  size_t room = *count;
  if (const cudaError_t error = list_nodes(begins, from, &room)) return error;
  return list_nodes(ends, to, count);
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t /*graph*/, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    auto& list = to[i]->dependencies;
    const auto found = std::find(list.begin(), list.end(), from[i]);
    if (found == list.end()) return finish(cudaErrorInvalidValue);
    list.erase(found);
    to[i]->programmatic.erase(from[i]);
  }
  return cudaSuccess;
}

/// Writes the graph in Graphviz's dot language.
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned int /*flags*/) {
  if (path == nullptr) return finish(cudaErrorInvalidValue);
  size_t count = 0;
  if (const cudaError_t error = cudaGraphGetNodes(graph, nullptr, &count)) return error;
  std::vector<cudaGraphNode_t> nodes(count);
  if (const cudaError_t error = cudaGraphGetNodes(graph, nodes.data(), &count)) return error;
  std::FILE* const file = std::fopen(path, "w");
  if (file == nullptr) return finish(cudaErrorOperatingSystem);
  std::fprintf(file, "digraph dot {\n");
  const auto place = [&](cudaGraphNode_t node) {
    return static_cast<int>(std::find(nodes.begin(), nodes.end(), node) - nodes.begin());
  };
  for (const cudaGraphNode_t node : nodes) {
    std::fprintf(file, "\"node_%d\" [label=\"%d\\n%s\"];\n", place(node), place(node),
                 type_name(node->type));
    for (const cudaGraphNode_t other : node->dependencies) {
      std::fprintf(file, "\"node_%d\" -> \"node_%d\";\n", place(other), place(node));
    }
  }
  std::fprintf(file, "}\n");
  std::fclose(file);
  return cudaSuccess;
}

}  // extern "C"
