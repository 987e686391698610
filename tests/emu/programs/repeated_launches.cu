// Repeats a kernel, as programs that measure do.
#include <cstdio>

__global__ void add(int* sum) { *sum += 1; }
__global__ void once(int* sum) { *sum = 1; }

int main() {
  int* sums = nullptr;
  cudaMallocManaged(&sums, 2 * sizeof(int));
  sums[0] = sums[1] = 0;
  for (int i = 0; i < 5; ++i) add<<<1, 1>>>(sums);
  once<<<1, 1>>>(sums + 1);
  cudaDeviceSynchronize();
  printf("%d %d\n", sums[0], sums[1]);
  cudaFree(sums);
}
