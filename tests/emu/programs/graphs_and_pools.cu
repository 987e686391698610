// Graphs made of nodes, changed and launched again; memory pools; a callback in a stream.
#include <cstdio>

__global__ void add(int* to, int value) { *to += value; }

int main() {
  int* number = nullptr;
  cudaMallocManaged(&number, sizeof(int));
  cudaGraph_t graph = nullptr;
  cudaGraphCreate(&graph, 0);
  cudaMemsetParams fill = {number, 0, 0, 4, 1, 1};
  cudaGraphNode_t zero, first, second;
  cudaGraphAddMemsetNode(&zero, graph, nullptr, 0, &fill);
  int five = 5, seven = 7;
  void* five_arguments[] = {&number, &five};
  void* seven_arguments[] = {&number, &seven};
  cudaGraphNodeParams any = {cudaGraphNodeTypeKernel};
  any.kernel = {(void*)add, dim3(1), dim3(1), 0, five_arguments, nullptr};
  const cudaGraphEdgeData edge = {};
  cudaGraphAddNode_v2(&first, graph, &zero, &edge, 1, &any);
  cudaKernelNodeParams kernel = {(void*)add, dim3(1), dim3(1), 0, seven_arguments, nullptr};
  cudaGraphAddKernelNode(&second, graph, nullptr, 0, &kernel);
  cudaGraphAddDependencies(graph, &first, &second, 1);
  size_t nodes = 0, roots = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  cudaGraphGetRootNodes(graph, nullptr, &roots);
  five = seven = 1000;  // the nodes have copies
  cudaGraphExec_t executable = nullptr;
  cudaGraphInstantiate(&executable, graph, nullptr, nullptr, 0);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraphLaunch(executable, stream);
  cudaStreamSynchronize(stream);
  std::printf("%zu %zu %d ", nodes, roots, *number);
  int hundred = 100;
  void* hundred_arguments[] = {&number, &hundred};
  kernel.kernelParams = hundred_arguments;
  cudaGraphExecKernelNodeSetParams(executable, second, &kernel);
  cudaGraphLaunch(executable, stream);
  cudaStreamSynchronize(stream);
  std::printf("%d\n", *number);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);

  cudaMemPool_t pool;
  cudaDeviceGetDefaultMemPool(&pool, 0);
  unsigned long long keep = ~0ull, found = 0;
  cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
  cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &found);
  int* drawn = nullptr;
  std::printf("%d %d ", found == keep, cudaMallocFromPoolAsync(&drawn, 64, pool, stream));
  cudaFreeAsync(drawn, stream);
  cudaStreamAddCallback(
      stream, [](cudaStream_t, cudaError_t, void* text) { std::printf("%s\n", (char*)text); },
      (void*)"called", 0);
  cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  cudaFree(number);
}
