// Variables of a class with a destructor in shared memory: libcu++'s barriers.

#include <cstdio>
#include <cuda/barrier>

__global__ void rotate(int* values) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int shared[64];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  for (int round = 0; round < 3; ++round) {
    shared[threadIdx.x] = values[threadIdx.x];
    barrier.arrive_and_wait();
    values[threadIdx.x] = shared[(threadIdx.x + 1) % 64];
    barrier.arrive_and_wait();
  }
}

int main() {
  int* values = nullptr;
  cudaMallocManaged(&values, 64 * sizeof(int));
  for (int i = 0; i < 64; ++i) values[i] = i;
  rotate<<<1, 64>>>(values);
  const cudaError_t error = cudaDeviceSynchronize();
  printf("%d %d %s\n", values[0], values[63], cudaGetErrorName(error));
  cudaFree(values);
}
