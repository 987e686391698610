// Programs that GCC, nvcc's host compiler, takes as their authors meant them: integers wrap, and a
// function without its return statement returns.

#include <cstdio>
#include <vector>

#include "as_nvcc.h"

const int warpSize = 32;

__global__ void lanes(int* result) {
  __shared__ alignas(128) int sums[32];
  int sum = 0;
  UNROLL
  for (int i = 0; i < 2; ++i) sum += lane();
  sums[threadIdx.x] = sum;
  result[threadIdx.x] = sums[threadIdx.x % warpSize];
}

__attribute__((noinline)) int report(int lane, int value) { printf("%d %d\n", lane, value); }

int main() {
  int* result;
  cudaMallocManaged(&result, 32 * sizeof(int));
  start(lanes, 1, result);
  cudaDeviceSynchronize();
  report(31, result[31]);
  cudaFree(result);

  std::vector<int> squares(70000);
  for (int i = 0; i < 70000; ++i) squares[i] = static_cast<unsigned>(i) * i;
  int wrong = 0;
  for (int i = 0; i < 70000; ++i) wrong += squares[i] != i * i;
  printf("%d wrong\n", wrong);
}
