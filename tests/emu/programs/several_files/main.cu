// A program of several files whose device code calls that of the others (-rdc=true).
#include "parts.h"

static __device__ int offset = 3;
__constant__ int factor;

__global__ void combine(int* out) { *out = twice(shared_value) * factor + offset; }

int main() {
  const int seven = 7;
  cudaMemcpyToSymbol(factor, &seven, sizeof(seven));
  int* out = nullptr;
  cudaMallocManaged(&out, sizeof(int));
  combine<<<1, 1>>>(out);
  cudaDeviceSynchronize();
  std::printf("%d %d %s\n", *out, of_the_other_file(), describe());
  cudaFree(out);
}
