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

/// The padding goes through it once more for each pass, as in a sort.
__global__ void exchange_often(const int* from, int* to, int count, int passes, bool uses_padding) {
  __shared__ int tile[64];
  int value;
  if (threadIdx.x < count) value = from[threadIdx.x];
  for (int pass = 0; pass < passes; ++pass) {
    tile[63 - threadIdx.x] = value;
    __syncthreads();
    value = tile[threadIdx.x];
    __syncthreads();
  }
  if (threadIdx.x < count || uses_padding) to[threadIdx.x] = value;
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
  exchange_often<<<1, 64>>>(from, to, 50, 4, uses_padding);
  cudaDeviceSynchronize();
  printf("%d %d\n", to[0], to[49]);
  cudaFree(from);
  cudaFree(to);
}
