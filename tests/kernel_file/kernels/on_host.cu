#include <vector>

// Multiplies on the host: directly with device pointers, or with copies.
void gemm(int m, int n, int k, const float* A, const float* B, float* C) {
#ifdef WITH_COPIES
  std::vector<float> a(m * k), b(k * n), c(m * n);
  cudaMemcpy(a.data(), A, a.size() * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(b.data(), B, b.size() * sizeof(float), cudaMemcpyDeviceToHost);
  float* const to = c.data();
#else
  const float *a = A, *b = B;
  float* const to = C;
#endif
  for (int row = 0; row < m; ++row) {
    for (int col = 0; col < n; ++col) {
      float sum = 0;
      for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
      to[row * n + col] = sum;
    }
  }
#ifdef WITH_COPIES
  cudaMemcpy(C, to, c.size() * sizeof(float), cudaMemcpyHostToDevice);
#endif
}
