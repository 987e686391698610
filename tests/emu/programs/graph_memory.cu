// Graphs that allocate: by nodes, and by calls in a captured stream.

#include <cstdio>

__global__ void fill(int* to, int value) {
  to[threadIdx.x] = value + static_cast<int>(threadIdx.x);
}
__global__ void sum(const int* from, int* to) { atomicAdd(to, from[threadIdx.x]); }

int main() {
  int* result = nullptr;
  cudaMallocManaged(&result, sizeof(int));
  *result = 0;
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaMemAllocNodeParams wanted = {};
  wanted.poolProps.allocType = cudaMemAllocationTypePinned;
  wanted.poolProps.location = {cudaMemLocationTypeDevice, 0};
  wanted.bytesize = 64 * sizeof(int);
  cudaGraphNode_t allocate, first, second, release;
  cudaGraphAddMemAllocNode(&allocate, graph, nullptr, 0, &wanted);
  int value = 1;
  void* fill_arguments[] = {&wanted.dptr, &value};
  cudaKernelNodeParams kernel = {(void*)fill, dim3(1), dim3(64), 0, fill_arguments, nullptr};
  cudaGraphAddKernelNode(&first, graph, &allocate, 1, &kernel);
  void* sum_arguments[] = {&wanted.dptr, &result};
  kernel = {(void*)sum, dim3(1), dim3(64), 0, sum_arguments, nullptr};
  cudaGraphAddKernelNode(&second, graph, &first, 1, &kernel);
  cudaGraphAddMemFreeNode(&release, graph, &second, 1, wanted.dptr);
  cudaMemAllocNodeParams found = {};
  cudaGraphMemAllocNodeGetParams(allocate, &found);
  const cudaError_t refused = cudaGraphAddMemFreeNode(&release, graph, &second, 1, result);
  cudaGraphExec_t executable;
  cudaGraphInstantiate(&executable, graph, 0);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraphLaunch(executable, stream);
  cudaGraphLaunch(executable, stream);
  cudaStreamSynchronize(stream);
  printf("%d %d %s\n", *result, found.dptr == wanted.dptr, cudaGetErrorName(refused));
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);

  *result = 0;
  int* scratch = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaMallocAsync(&scratch, 64 * sizeof(int), stream);
  fill<<<1, 64, 0, stream>>>(scratch, 2);
  sum<<<1, 64, 0, stream>>>(scratch, result);
  // A stream that has joined again may be destroyed before the capture ends.
  cudaStream_t other;
  cudaEvent_t event;
  cudaStreamCreate(&other);
  cudaEventCreate(&event);
  cudaEventRecord(event, stream);
  cudaStreamWaitEvent(other, event, 0);
  cudaFreeAsync(scratch, other);
  cudaEventRecord(event, other);
  cudaStreamWaitEvent(stream, event, 0);
  cudaStreamDestroy(other);
  cudaEventDestroy(event);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  for (int i = 0; i < 3; ++i) cudaGraphLaunch(executable, stream);
  cudaStreamSynchronize(stream);
  unsigned long long used = 0;
  cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used);
  printf("%d %llu\n", *result, used);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
  cudaFree(result);
}
