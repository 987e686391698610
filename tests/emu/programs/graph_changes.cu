// Nodes of graphs that are asked for and changed, before and after instantiation.
#include <cuda_runtime.h>

#include <cstdio>

__device__ int variable;
__global__ void add(int* to, int value) { to[threadIdx.x] += value; }

int calls = 0;
void count(void* by) { calls += *static_cast<int*>(by); }

int main() {
  int *memory, host[4] = {1, 2, 3, 4}, back[4] = {}, one = 1, ten = 10, value = 5;
  cudaMalloc(&memory, sizeof(host));
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaGraphNode_t copy, kernel, call, record, to_variable;
  cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, memory, host, sizeof(host),
                           cudaMemcpyHostToDevice);
  void* arguments[] = {&memory, &value};
  cudaKernelNodeParams launch = {
      reinterpret_cast<void*>(add), dim3(1), dim3(4), 0, arguments, nullptr};
  cudaGraphAddKernelNode(&kernel, graph, &copy, 1, &launch);
  cudaHostNodeParams host_call = {count, &one};
  cudaGraphAddHostNode(&call, graph, &kernel, 1, &host_call);
  cudaEvent_t event;
  cudaEventCreate(&event);
  cudaGraphAddEventRecordNode(&record, graph, &call, 1, event);
  cudaGraphAddMemcpyNodeToSymbol(&to_variable, graph, &record, 1, &variable, host, sizeof(int), 0,
                                 cudaMemcpyHostToDevice);

  cudaGraphExec_t executable;
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, 0);
  cudaMemcpy(back, memory, sizeof(back), cudaMemcpyDeviceToHost);
  int in_variable = 0;
  cudaMemcpyFromSymbol(&in_variable, variable, sizeof(int));
  std::printf("%d %d, %d, %d\n", back[0], back[3], calls, in_variable);

  // In what was instantiated: another source, another argument, another host function's data.
  int others[4] = {100, 200, 300, 400};
  value = 7;
  host_call.userData = &ten;
  cudaGraphExecMemcpyNodeSetParams1D(executable, copy, memory, others, sizeof(others),
                                     cudaMemcpyHostToDevice);
  cudaGraphExecKernelNodeSetParams(executable, kernel, &launch);
  cudaGraphExecHostNodeSetParams(executable, call, &host_call);
  cudaGraphLaunch(executable, 0);
  cudaMemcpy(back, memory, sizeof(back), cudaMemcpyDeviceToHost);
  cudaMemcpy3DParms box;
  cudaGraphMemcpyNodeGetParams(copy, &box);
  cudaHostNodeParams kept;
  cudaGraphHostNodeGetParams(call, &kept);
  std::printf("%d %d, %d, %zu %d\n", back[0], back[3], calls, box.extent.width,
              kept.userData == &one);

  // In the graph: what is instantiated later.
  cudaGraphKernelNodeSetParams(kernel, &launch);
  cudaGraphExec_t later;
  cudaGraphInstantiate(&later, graph, 0);
  cudaGraphLaunch(later, 0);
  cudaMemcpy(back, memory, sizeof(back), cudaMemcpyDeviceToHost);
  size_t edges = 0, before = 1;
  cudaGraphGetEdges(graph, nullptr, nullptr, &edges);
  cudaGraphNode_t behind;
  cudaGraphNodeGetDependencies(call, &behind, &before);
  cudaGraph_t clone;
  cudaGraphNode_t in_clone;
  cudaGraphClone(&clone, graph);
  cudaGraphNodeFindInClone(&in_clone, kernel, clone);
  cudaIpcMemHandle_t handle;
  std::printf("%d %d, %zu %zu %d %d %s\n", back[0], back[3], edges, before, behind == kernel,
              in_clone != kernel, cudaGetErrorName(cudaIpcGetMemHandle(&handle, memory)));

  // Without the kernel, the function is called at once.
  size_t behind_kernel = 0;
  cudaGraphNodeGetDependentNodes(in_clone, nullptr, &behind_kernel);
  cudaGraphDestroyNode(in_clone);
  size_t nodes = 0, fewer = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  cudaGraphGetNodes(clone, nullptr, &fewer);
  cudaGraphExec_t without;
  cudaGraphInstantiate(&without, clone, 0);
  cudaGraphLaunch(without, 0);
  cudaMemcpy(back, memory, sizeof(back), cudaMemcpyDeviceToHost);
  std::printf("%zu %d, %d %d\n", behind_kernel, int(nodes - fewer), back[0], back[3]);
  cudaGraphExecDestroy(without);
  cudaGraphExecDestroy(executable);
  cudaGraphExecDestroy(later);
  cudaGraphDestroy(clone);
  cudaGraphDestroy(graph);
  cudaEventDestroy(event);
  cudaFree(memory);
}
