// C = A B by tiles in shared memory, for sizes that are no multiples of the tile.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

template <int TILE>
__global__ void matmul(const float* A, const float* B, float* C, int m, int n, int k) {
  __shared__ float As[TILE][TILE];
  __shared__ float Bs[TILE][TILE];
  const int row = blockIdx.y * TILE + threadIdx.y;
  const int col = blockIdx.x * TILE + threadIdx.x;
  float sum = 0.0f;
  for (int k0 = 0; k0 < k; k0 += TILE) {
    const int a_col = k0 + threadIdx.x, b_row = k0 + threadIdx.y;
    As[threadIdx.y][threadIdx.x] = row < m && a_col < k ? A[row * k + a_col] : 0.0f;
    Bs[threadIdx.y][threadIdx.x] = b_row < k && col < n ? B[b_row * n + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < TILE; ++i) sum += As[threadIdx.y][i] * Bs[i][threadIdx.x];
#ifndef WITHOUT_SECOND_BARRIER
    __syncthreads();
#endif
  }
  if (row < m && col < n) C[row * n + col] = sum;
}

int main(int argc, char** argv) {
  const int m = argc > 1 ? atoi(argv[1]) : 70, n = argc > 2 ? atoi(argv[2]) : 50;
  const int k = argc > 3 ? atoi(argv[3]) : 33;
  std::vector<float> A(m * k), B(k * n), C(m * n);
  for (int i = 0; i < m * k; ++i) A[i] = (i * 7 % 11) - 5;
  for (int i = 0; i < k * n; ++i) B[i] = (i * 5 % 13) - 6;
  float *dA, *dB, *dC;
  cudaMalloc(&dA, A.size() * sizeof(float));
  cudaMalloc(&dB, B.size() * sizeof(float));
  cudaMalloc(&dC, C.size() * sizeof(float));
  cudaMemcpy(dA, A.data(), A.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dB, B.data(), B.size() * sizeof(float), cudaMemcpyHostToDevice);
  const int tile = 16;
  dim3 block(tile, tile), grid((n + tile - 1) / tile, (m + tile - 1) / tile);
  matmul<tile><<<grid, block>>>(dA, dB, dC, m, n, k);
  cudaDeviceSynchronize();
  cudaMemcpy(C.data(), dC, C.size() * sizeof(float), cudaMemcpyDeviceToHost);
  double worst = 0;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int p = 0; p < k; ++p) sum += A[i * k + p] * B[p * n + j];
      worst = std::max(worst, std::abs(sum - C[i * n + j]));
    }
  }
  printf("%d x %d x %d, largest error %g\n", m, n, k, worst);
  cudaFree(dA);
  cudaFree(dB);
  cudaFree(dC);
  return worst == 0 ? 0 : 1;
}
