// Each reading of the clock is later than the one before it: programs divide by the difference.
#include <cstdio>

__global__ void read_often(int* wrong) {
  long long last = clock64();
  int count = 0;
  const auto read = [&] {
    const long long now = clock64();
    count += now <= last;
    last = now;
  };
  for (int i = 0; i < 20; ++i) {
    read();
    if (threadIdx.x % 4 == i % 4) read();
    read();
    if (i % 3 == 0) __syncthreads();
  }
  const clock_t low = clock();
  count += clock() - low <= 0;
  wrong[threadIdx.x] = count;
}

int main() {
  int* wrong;
  cudaMallocManaged(&wrong, 64 * sizeof(int));
  read_often<<<1, 64>>>(wrong);
  cudaDeviceSynchronize();
  int sum = 0;
  for (int i = 0; i < 64; ++i) sum += wrong[i];
  printf("%d wrong\n", sum);
  cudaFree(wrong);
}
