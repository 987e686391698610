#pragma once
// Memory that nodes of graphs allocate: it has its address when the node is made, and keeps its
// contents between launches. It is given back when the program ends, because a graph may be launched
// again after the program has freed what it allocated.

#include <cstddef>

#include "cuda_runtime_api.h"

namespace rung::emu {

/// Enqueues the allocation or free of such memory, for the order of operations.
cudaError_t replace_graph_memory(void* pointer, bool frees, cudaStream_t stream);
/// For a node, or for cudaMallocAsync in a captured stream.
cudaError_t allocate_graph_memory(void** pointer, std::size_t bytes);
/// True for a pointer from allocate_graph_memory(), which freeing leaves allocated.
bool is_graph_memory(const void* pointer);
/// In all.
std::size_t graph_memory_bytes();

}  // namespace rung::emu
