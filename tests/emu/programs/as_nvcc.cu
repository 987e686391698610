// Programs that nvcc and GCC, its host compiler, take as their authors meant them: integers wrap, a
// function without its return statement returns, a word may follow a literal at once, and std::ceil
// is a constant.

#include <cmath>
#include <cstdio>
#include <vector>

#include "as_nvcc.h"

const int warpSize = 32;
constexpr int blocks = std::ceil(31 / 32.0f);

__global__ void lanes(int* result) {
  __shared__ alignas(128) int sums[32];
  int sum = 0;
  UNROLL
  for (int i = 0; i < 2; ++i) sum += lane();
  sums[threadIdx.x] = sum;
  result[threadIdx.x] = sums[threadIdx.x % warpSize];
}

// clang-format off: without a blank, C++11 has it that `format` is the literal's suffix.
#define PRINT(format, ...) printf("lane "format "\n", __VA_ARGS__)
// clang-format on

__attribute__((noinline)) int report(int lane, int value) { PRINT("%d %d", lane, value); }

int main() {
  int* result;
  cudaMallocManaged(&result, 32 * sizeof(int));
  start(lanes, blocks, result);
  cudaDeviceSynchronize();
  report(31, result[31]);
  cudaFree(result);

  std::vector<int> squares(70000);
  for (int i = 0; i < 70000; ++i) squares[i] = static_cast<unsigned>(i) * i;
  int wrong = 0;
  for (int i = 0; i < 70000; ++i) wrong += squares[i] != i * i;
  printf("%d wrong\n", wrong);
}
