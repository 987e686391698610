// An infinite loop does not end, whatever code follows it.
#include <cstdio>

__global__ void wait(const int* flag, int* out) {
  while (*flag == 0) {
  }
  *out = 2;
}

int main() {
  int* words;
  cudaMalloc(&words, 2 * sizeof(int));
  cudaMemset(words, 0, 2 * sizeof(int));
  wait<<<1, 1>>>(words, words + 1);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
