// cuBLAS in a stream capture: what it is asked for is computed when the graph is launched, each time.
#include <cublas_v2.h>

#include <cstdio>

__global__ void twice(float* values) { values[threadIdx.x] *= 2; }

int main() {
  float *a, *c;
  cudaMallocManaged(&a, 4 * sizeof(float));
  cudaMallocManaged(&c, 4 * sizeof(float));
  for (int i = 0; i < 4; ++i) a[i] = static_cast<float>(i + 1), c[i] = 0;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cublasHandle_t handle;
  cublasCreate(&handle);
  cublasSetStream(handle, stream);

  cudaGraph_t graph;
  cudaGraphExec_t program;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  twice<<<1, 4, 0, stream>>>(a);
  {
    const float alpha = 1, beta = 1;
    printf("%d\n",
           cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &alpha, a, 2, a, 2, &beta, c, 2));
  }
  twice<<<1, 4, 0, stream>>>(c);
  {
    const float one = 1;
    printf("%d\n", cublasSaxpy(handle, 1, &one, a + 3, 1, c, 1));
  }
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&program, graph, 0);
  cudaGraphDestroy(graph);
  printf("%g %g\n", a[0], c[0]);
  for (int i = 0; i < 2; ++i) {
    cudaGraphLaunch(program, stream);
    cudaStreamSynchronize(stream);
    printf("%g: %g %g %g %g\n", a[0], c[0], c[1], c[2], c[3]);
  }
  cudaGraphExecDestroy(program);
  cublasDestroy(handle);
  cudaStreamDestroy(stream);
  cudaFree(a);
  cudaFree(c);
}
