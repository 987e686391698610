// Kernels and device variables of this file alone.
#include <cstdio>

static __constant__ int factor;
static __device__ int offset;

static __global__ void scale(int* values) {
  values[threadIdx.x] = values[threadIdx.x] * factor + offset;
}

int main() {
  int values[4] = {0, 1, 2, 3}, two = 2, ten = 10, *device;
  cudaMalloc(&device, sizeof(values));
  cudaMemcpy(device, values, sizeof(values), cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(factor, &two, sizeof(int));
  cudaMemcpyToSymbol(offset, &ten, sizeof(int));
  scale<<<1, 4>>>(device);
  cudaMemcpy(values, device, sizeof(values), cudaMemcpyDeviceToHost);
  printf("%d %d %d %d\n", values[0], values[1], values[2], values[3]);
  cudaFree(device);
}
