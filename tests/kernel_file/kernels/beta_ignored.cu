// Treats every beta other than 0 as 1.
#define OLD_C (beta == 0 ? 0 : C[row * ldc + col])
#include "tiled.cuh"

void gemm(int m, int n, int k, float alpha, const float* A, int lda, const float* B, int ldb,
          float beta, float* C, int ldc) {
  launch_tiled(m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}
