// Repeats a kernel, as to time it: ten times, then five times each with other data and with another
// constant. With ADDS, every launch changes what the next one reads.
#include <cstdio>

__constant__ float scale = 1;

__global__ void weigh(const float* x, float* y, int n, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k < steps; ++k) sum = 0.5f * sum + x[(i + k) % n];
#ifdef ADDS
  y[i] += scale * sum > 0 ? 1 : 0;
#else
  y[i] = scale * sum;
#endif
}

int main() {
  constexpr int n = 8192, steps = 2000;
  float *x, *y;
  float ones[n], found[n];
  for (float& one : ones) one = 1;
  cudaMalloc(&x, sizeof ones);
  cudaMalloc(&y, sizeof found);
  cudaMemcpy(x, ones, sizeof ones, cudaMemcpyHostToDevice);
  cudaMemset(y, 0, sizeof found);
  for (int i = 0; i < 10; ++i) weigh<<<n / 256, 256>>>(x, y, n, steps);
  for (float& one : ones) one = 3;
  cudaMemcpy(x, ones, sizeof ones, cudaMemcpyHostToDevice);
  for (int i = 0; i < 5; ++i) weigh<<<n / 256, 256>>>(x, y, n, steps);
  const float two = 2;
  cudaMemcpyToSymbol(scale, &two, sizeof two);
  for (int i = 0; i < 5; ++i) weigh<<<n / 256, 256>>>(x, y, n, steps);
  cudaMemcpy(found, y, sizeof found, cudaMemcpyDeviceToHost);
  std::printf("%g %g\n", found[0], found[n - 1]);
  cudaFree(x);
  cudaFree(y);
}
