// Calls that fail, by the program's argument: unchecked ones are hazards, checked ones and probes are not.
#include <cstdio>
#include <cstring>

#include "cuda.h"

#define CHECK(call)                                                    \
  do {                                                                 \
    const cudaError_t error = (call);                                  \
    if (error != cudaSuccess) printf("%s\n", cudaGetErrorName(error)); \
  } while (0)
#define RELEASE(pointer) cudaFree(pointer)

__global__ void fill(float* x) { x[threadIdx.x] = 1; }

template <class T>
void release(T* pointer) {
  cudaFree(pointer);
}

int main(int count, char** arguments) {
  const char* what = count > 1 ? arguments[1] : "";
  const auto is = [&](const char* name) { return std::strcmp(what, name) == 0; };
  float *x, host[2048];
  CHECK(cudaMalloc(&x, 1024 * sizeof(float)));
  if (is("launch")) fill<<<2, 2048>>>(x);
  if (is("copy")) {
    cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
  }
  if (is("twice")) {
    cudaFree(x);
    cudaFree(x);
  }
  if (is("template")) {
    release(x);
    release(x);
  }
  if (is("macro")) {
    RELEASE(x);
    RELEASE(x);
  }
  if (is("driver")) cuMemFree(1);
  if (is("large")) cudaMalloc(&x, std::size_t{1} << 50);
  // None of these is an error that the program does not know of.
  if (is("checked")) {
    fill<<<2, 2048>>>(x);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice));
    const cudaError_t kept = cudaMalloc(&x, std::size_t{1} << 50);
    printf("%d\n", kept == cudaErrorMemoryAllocation);
    cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
    if (cudaPeekAtLastError() != cudaSuccess) cudaGetLastError();
    (void)cudaFree(host);
    cudaFree(nullptr);
    cudaHostUnregister(host);
  }
}
