// A parameter that is copied to local memory, because its address is taken, and one that is not.
// CUTLASS names it by a macro of its own, which it would leave empty with clang.
#ifndef CUTLASS_GRID_CONSTANT
#define CUTLASS_GRID_CONSTANT
#endif
#include <cstdio>

struct Values {
  int at[40];
};

__device__ __noinline__ int value(const Values& values, int i) { return values.at[i]; }

__global__ void copied(const Values values, int* to) {
  to[threadIdx.x] = value(values, threadIdx.x);
}

__global__ void in_place(CUTLASS_GRID_CONSTANT const Values values, int* to) {
  to[threadIdx.x] = value(values, threadIdx.x);
}

int main() {
  Values values;
  for (int i = 0; i < 40; ++i) values.at[i] = i * i;
  int* to;
  cudaMallocManaged(&to, 40 * sizeof(int));
  copied<<<1, 40>>>(values, to);
  in_place<<<1, 40>>>(values, to);
  cudaDeviceSynchronize();
  printf("%d\n", to[39]);
  cudaFree(to);
}
