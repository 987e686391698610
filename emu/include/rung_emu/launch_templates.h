#pragma once
// Launches by cudaLaunchKernelEx, with the arguments as they are.

template <class... Parameters, class... Arguments>
inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config,
                                      void (*kernel)(Parameters...), Arguments&&... arguments) {
  // Each argument is converted to its parameter's type, and lives until the launch has copied it.
  return [&](Parameters... converted) {
    void* addresses[] = {
        const_cast<void*>(static_cast<const volatile void*>(__builtin_addressof(converted)))...,
        nullptr};
    return cudaLaunchKernelExC(config, reinterpret_cast<const void*>(kernel), addresses);
  }(static_cast<Arguments&&>(arguments)...);
}

template <class T>
inline cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, T* kernel,
                                                  const cudaLaunchConfig_t* config) {
  return cudaOccupancyMaxActiveClusters(clusters, reinterpret_cast<const void*>(kernel), config);
}
template <class T>
inline cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, T* kernel,
                                                        const cudaLaunchConfig_t* config) {
  return cudaOccupancyMaxPotentialClusterSize(size, reinterpret_cast<const void*>(kernel), config);
}
template <class T>
inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, T* kernel, int blocks,
                                                             int block_threads) {
  return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, reinterpret_cast<const void*>(kernel),
                                                   blocks, block_threads);
}
template <class T>
inline cudaError_t cudaFuncGetName(const char** name, T* kernel) {
  return cudaFuncGetName(name, reinterpret_cast<const void*>(kernel));
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                        cudaGraphNode_t* /*error_node*/, char* /*log*/,
                                        size_t /*log_bytes*/) {
  return cudaGraphInstantiate(executable, graph, 0ull);
}
/// As CUDA 13 declares it.
inline cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* dependencies,
                                    const cudaGraphEdgeData* edges, size_t count,
                                    cudaGraphNodeParams* parameters) {
  return cudaGraphAddNode_v2(node, graph, dependencies, edges, count, parameters);
}
inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                       cudaGraphNode_t* error_node,
                                       cudaGraphExecUpdateResult* result) {
  cudaGraphExecUpdateResultInfo info;
  const cudaError_t error = cudaGraphExecUpdate(executable, graph, &info);
  *error_node = info.errorNode;
  *result = info.result;
  return error;
}
