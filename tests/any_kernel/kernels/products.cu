// Kernels for tests/any_kernel/commands_test.cpp: a right product and others with one fault each.
#include <cuda_fp16.h>

struct Sizes {
  unsigned M, N, K;
};

__global__ void product(const float* A, const float* B, float* C, Sizes sizes) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= sizes.M || y >= sizes.N) return;
  float sum = 0;
  for (unsigned k = 0; k < sizes.K; ++k) sum += A[y * sizes.K + k] * B[k * sizes.M + x];
  C[y * sizes.M + x] = sum;
}

// Right only where the matrix is square: the row has the length of a column.
__global__ void square(const float* A, const float* B, float* C, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += A[x * n + k] * B[k * n + y];
  C[x * n + y] = sum;
}

__global__ void past_the_end(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) y[i] = 2 * x[i];
}

__global__ void accumulates(const float* x, float* sum) { atomicAdd(sum, x[threadIdx.x]); }

template <class T, int N>
__global__ void reversed(const T* x, T* y, float4 factors) {
  extern __shared__ float values[];
  values[threadIdx.x] = float(x[threadIdx.x]);
  __syncthreads();
  y[threadIdx.x] = T(values[N - 1 - threadIdx.x] * factors.y);
}

namespace inner {
__global__ void half_of(const __half* x, __half* y, bool negative, const void* unused) {
  const float value = 0.5f * __half2float(x[threadIdx.x]);
  y[threadIdx.x] = __float2half(negative ? -value : value);
}
}  // namespace inner
