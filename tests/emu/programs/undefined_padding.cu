// The last tile's padding holds whatever was in the registers, goes through shared memory, and is
// not used: no error. A use of it is one.
#include <cstdio>

__global__ void exchange(const int* from, int* to, int count, bool uses_padding) {
  __shared__ int tile[64];
  int value;
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < count) value = from[i];
  tile[63 - threadIdx.x] = value;
  __syncthreads();
  const int j = blockIdx.x * 64 + 63 - threadIdx.x;
  if (j < count || uses_padding) to[j] = 2 * tile[threadIdx.x];
}

int main(int count, char**) {
  const bool uses_padding = count > 1;
  int *from, *to;
  cudaMallocManaged(&from, 128 * sizeof(int));
  cudaMallocManaged(&to, 128 * sizeof(int));
  for (int i = 0; i < 128; ++i) from[i] = i;
  exchange<<<2, 64>>>(from, to, 100, uses_padding);
  cudaDeviceSynchronize();
  printf("%d %d %d\n", to[0], to[63], to[99]);
  cudaFree(from);
  cudaFree(to);
}
