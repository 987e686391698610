// A header with code that only nvcc accepts.
#pragma once

#if __NVCC__ && __CUDACC__
#define UNROLL #pragma unroll
#endif

__device__ inline unsigned lane() {
  unsigned lane;
  asm volatile("mov.u32 %0, %laneid;" : "=r"(lane));
  return lane;
}

template <class Kernel>
void start(Kernel kernel, int blocks, int* result) {
  kernel<<<blocks, 32>>>(result);
}
