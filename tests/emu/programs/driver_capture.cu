// A capture and its graph by the driver API, which the runtime's streams take part in.

#include <cuda.h>

#include <cstdio>

__global__ void add(int* to) { atomicAdd(to, 1); }

int main() {
  int* count = nullptr;
  cudaMallocManaged(&count, sizeof(int));
  *count = 0;
  CUstream stream;
  cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
  cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
  add<<<2, 32, 0, stream>>>(count);
  CUstreamCaptureStatus status;
  cuStreamIsCapturing(stream, &status);
  CUgraph graph;
  cuStreamEndCapture(stream, &graph);
  const int before = *count;
  CUgraphExec executable;
  cuGraphInstantiate(&executable, graph, 0);
  for (int i = 0; i < 3; ++i) cuGraphLaunch(executable, stream);
  cuStreamSynchronize(stream);
  printf("%d %d %d\n", status == CU_STREAM_CAPTURE_STATUS_ACTIVE, before, *count);
  cuGraphExecDestroy(executable);
  cuGraphDestroy(graph);
  cuStreamDestroy(stream);
  cudaFree(count);
}
