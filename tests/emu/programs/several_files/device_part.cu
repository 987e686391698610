#include "parts.h"

__device__ int shared_value = 11;
__device__ int twice(int value) { return 2 * value; }

// A kernel with a unique name and internal linkage.
static __global__ void own(int* out) { *out = twice(4) + shared_value; }

int of_the_other_file() {
  int* out = nullptr;
  cudaMallocManaged(&out, sizeof(int));
  own<<<1, 1>>>(out);
  cudaDeviceSynchronize();
  const int found = *out;
  cudaFree(out);
  return found;
}
