// __managed__ variables: the host and the device have the same memory of them, before and after the
// first call.

#include <cstdio>

__device__ __managed__ int counter = 40;
__managed__ float table[64];
static __managed__ double untouched = 2.5;

__global__ void count() {
  atomicAdd(&counter, 1);
  table[threadIdx.x] += untouched * threadIdx.x;
}

int main() {
  const int before = counter;
  ++counter;
  table[2] = 1;
  count<<<1, 64>>>();
  cudaDeviceSynchronize();
  int copied = 0;
  cudaMemcpyFromSymbol(&copied, counter, sizeof copied);
  cudaPointerAttributes attributes;
  cudaPointerGetAttributes(&attributes, table);
  printf("%d %d %d %g %g %d\n", before, counter, copied, table[2], table[63],
         attributes.type == cudaMemoryTypeManaged);
}
