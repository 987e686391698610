// Warps take rows from a counter: one lane gets the number, and a shuffle broadcasts it to the
// other lanes, where it is undefined before.

#include <cstdio>

__device__ int first_lanes(int value) { return __shfl_sync(0xffffffff, value, 0); }

__device__ int next_row(int* counter) {
  int row;
  if (threadIdx.x % 32 == 0) row = atomicAdd(counter, 1);
  return first_lanes(row);
}

__global__ void sum_rows(const int* rows, int count, int* sums, int* counter) {
  for (int row = next_row(counter); row < count; row = next_row(counter)) {
    int sum = rows[row * 32 + threadIdx.x % 32];
    for (int distance = 16; distance > 0; distance /= 2) {
      sum += __shfl_down_sync(0xffffffff, sum, distance);
    }
    if (threadIdx.x % 32 == 0) sums[row] = sum;
  }
}

int main() {
  constexpr int count = 100;
  int *rows, *sums, *counter;
  cudaMallocManaged(&rows, count * 32 * sizeof(int));
  cudaMallocManaged(&sums, count * sizeof(int));
  cudaMallocManaged(&counter, sizeof(int));
  for (int i = 0; i < count * 32; ++i) rows[i] = i % 17;
  *counter = 0;
  sum_rows<<<2, 64>>>(rows, count, sums, counter);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int row = 0; row < count; ++row) {
    int sum = 0;
    for (int i = 0; i < 32; ++i) sum += rows[row * 32 + i];
    wrong += sum != sums[row];
  }
  printf("%d rows, %d wrong\n", count, wrong);
  cudaFree(counter);
  cudaFree(sums);
  cudaFree(rows);
}
