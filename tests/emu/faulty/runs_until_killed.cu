#include <cstdio>

__global__ void spin(volatile int* go) {
  while (*go == 0) {
  }
}

int main() {
  int* go = nullptr;
  cudaMalloc(&go, sizeof(int));
  cudaMemset(go, 0, sizeof(int));
  std::printf("running\n");
  std::fflush(stdout);
  spin<<<1, 1>>>(go);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
