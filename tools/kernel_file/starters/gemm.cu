// C = alpha A B + beta C, as a starting point: each thread computes one element of C.
//
// rung check calls gemm() with pointers to device memory. All matrices are row-major; lda is the
// distance from one row of A to the next, in elements. If beta is 0, C is not read.

__global__ void gemm_kernel(int m, int n, int k, float alpha, const float* A, int lda,
                            const float* B, int ldb, float beta, float* C, int ldc) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;

  float sum = 0;
  for (int i = 0; i < k; ++i) sum += A[row * lda + i] * B[i * ldb + col];

  float* const c = &C[row * ldc + col];
  *c = alpha * sum + (beta == 0 ? 0 : beta * *c);
}

void gemm(int m, int n, int k, float alpha, const float* A, int lda, const float* B, int ldb,
          float beta, float* C, int ldc) {
  const dim3 block(32, 8);
  const dim3 grid((n + block.x - 1) / block.x, (m + block.y - 1) / block.y);
  gemm_kernel<<<grid, block>>>(m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}
