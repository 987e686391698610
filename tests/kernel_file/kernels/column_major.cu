// C = A^T B with column-major matrices, like a BLAS.

__global__ void kernel(int m, int n, int k, float alpha, const float* A, int lda, const float* B,
                       int ldb, float beta, float* C, int ldc) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += A[row * lda + i] * B[col * ldb + i];
  float* const c = &C[col * ldc + row];
  *c = alpha * sum + (beta == 0 ? 0 : beta * *c);
}

void gemm(int m, int n, int k, float alpha, const float* A, int lda, const float* B, int ldb,
          float beta, float* C, int ldc) {
  kernel<<<dim3((m + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(m, n, k, alpha, A, lda, B, ldb, beta,
                                                               C, ldc);
}
