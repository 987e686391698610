// A barrier of the grid in a launch that is not cooperative; with an argument, a texture that was destroyed.
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

int main(int count, char**) {
  float* x = nullptr;
  int* valid = nullptr;
  cudaMalloc(&x, 32 * sizeof(float));
  cudaMallocManaged(&valid, sizeof(int));
  if (count > 1) {
    fetch_from_destroyed(x);
  } else {
    wait_for_all<<<1, 32>>>(valid);
  }
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("valid: %d\n%s\n", *valid, cudaGetErrorName(error));
}
