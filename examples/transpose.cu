// Stores run down a column: `rung explain examples/transpose.cu` says what that costs, and what to do.
#include <cstdio>

__global__ void transpose(const float* in, float* out, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  if (x < n && y < n) out[x * n + y] = in[y * n + x];
}

int main() {
  constexpr int n = 1024;
  float *in = nullptr, *out = nullptr;
  cudaMalloc(&in, n * n * sizeof(float));
  cudaMalloc(&out, n * n * sizeof(float));
  cudaMemset(in, 0, n * n * sizeof(float));
  transpose<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(in, out, n);
  std::puts(cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(in);
  cudaFree(out);
}
