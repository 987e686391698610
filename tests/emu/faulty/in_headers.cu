// A barrier of the grid in a launch that is not cooperative; with an argument, a texture that was destroyed or a
// load past the end in a library's header.
#include <cooperative_groups.h>

#include <cstdio>

namespace cg = cooperative_groups;

__global__ void wait_for_all(int* valid) {
  if (threadIdx.x == 0) *valid = cg::this_grid().is_valid();
  cg::this_grid().sync();
}

__global__ void fetch(cudaTextureObject_t texture, float* y) {
  y[threadIdx.x] = tex1Dfetch<float>(texture, static_cast<int>(threadIdx.x));
}

__device__ float load_next(const float* from, int i);
__device__ float twice_the_next(const float* from, int i) { return 2 * load_next(from, i); }
__global__ void shift(const float* x, float* y) {
  const int i = static_cast<int>(threadIdx.x);
  y[i] = twice_the_next(x, i);
}

void fetch_from_destroyed(float* x) {
  cudaResourceDesc memory = {};
  memory.resType = cudaResourceTypeLinear;
  memory.res.linear.devPtr = x;
  memory.res.linear.sizeInBytes = 32 * sizeof(float);
  memory.res.linear.desc = cudaCreateChannelDesc<float>();
  cudaTextureDesc reading = {};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &memory, &reading, nullptr);
  cudaDestroyTextureObject(texture);
  fetch<<<1, 32>>>(texture, x);
}

int main(int count, char** arguments) {
  float *x = nullptr, *y = nullptr;
  int* valid = nullptr;
  cudaMalloc(&x, 32 * sizeof(float));
  cudaMalloc(&y, 32 * sizeof(float));
  cudaMallocManaged(&valid, sizeof(int));
  if (count > 1 && arguments[1][0] == 'l') {
    cudaMemset(x, 0, 32 * sizeof(float));
    shift<<<1, 32>>>(x, y);
  } else if (count > 1) {
    fetch_from_destroyed(x);
  } else {
    wait_for_all<<<1, 32>>>(valid);
  }
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("valid: %d\n%s\n", *valid, cudaGetErrorName(error));
}

#line 89 "library/copy.hpp"
__device__ float load_next(const float* from, int i) { return from[i + 1]; }
