#include <cassert>
#include <cstdio>

__global__ void check(int* x) {
  assert(threadIdx.x < 31);
  *x = 1;
}

int main() {
  int* x;
  cudaMalloc(&x, sizeof(int));
  check<<<1, 32>>>(x);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
