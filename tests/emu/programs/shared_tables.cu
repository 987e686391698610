// Arrays of shared-memory addresses, which differ from kernel to kernel.

#include <cstdio>

extern __shared__ float rows[];

struct Halves {
  float* part[2];
  int count;
};

__global__ void alternate(float* result, int steps) {
  float* row[2] = {rows, rows + 32};
  row[threadIdx.x % 2][threadIdx.x] = threadIdx.x;
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < steps; ++i) sum += row[i % 2][2 * (threadIdx.x / 2) + i % 2];
  result[threadIdx.x] = sum;
}

__global__ void behind_another(float* result, int steps) {
  __shared__ float fixed[64];
  const Halves halves = {{fixed, fixed + 32}, 7};
  float* row[2][2] = {{rows, rows + 32}, {fixed, nullptr}};
  for (int i = 0; i < steps; ++i) {
    halves.part[i % 2][threadIdx.x] = 1 + i;
    row[0][i % 2][threadIdx.x] = 10 * (1 + i);
  }
  __syncthreads();
  result[threadIdx.x] = halves.part[steps % 2][31 - threadIdx.x] +
                        row[0][(steps + 1) % 2][threadIdx.x] + halves.count;
  if (row[1][1] == nullptr) result[threadIdx.x] += row[1][0][31 - threadIdx.x] * 100;
}

int main() {
  float* result;
  cudaMallocManaged(&result, 32 * sizeof(float));
  alternate<<<1, 32, 64 * sizeof(float)>>>(result, 2);
  cudaDeviceSynchronize();
  printf("%g %g\n", result[0], result[31]);
  behind_another<<<1, 32, 64 * sizeof(float)>>>(result, 2);
  cudaDeviceSynchronize();
  printf("%g %g\n", result[0], result[31]);
  cudaFree(result);
}
