/* A BLAS whose dot products are right and whose matrix products are not. */

void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                 const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc) {
  (void)order, (void)trans_a, (void)trans_b, (void)k, (void)alpha, (void)a, (void)lda, (void)b;
  (void)ldb, (void)beta;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) c[i * ldc + j] = 1;
  }
}

void cblas_dgemm(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                 const double* a, int lda, const double* b, int ldb, double beta, double* c,
                 int ldc) {
  (void)order, (void)trans_a, (void)trans_b, (void)k, (void)alpha, (void)a, (void)lda, (void)b;
  (void)ldb, (void)beta;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) c[i * ldc + j] = 1;
  }
}

void cblas_gemm_bf16bf16f32(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                            const void* a, int lda, const void* b, int ldb, float beta, float* c,
                            int ldc) {
  cblas_sgemm(order, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

/* As on a CPU that has no such kernel. */
int dnnl_gemm_bf16bf16f32(void) {
  const int unimplemented = 3;
  return unimplemented;
}
void dnnl_sgemm(void) {}

float cblas_sdot(int n, const float* x, int incx, const float* y, int incy) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i * incx] * y[i * incy];
  return sum;
}

double cblas_ddot(int n, const double* x, int incx, const double* y, int incy) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i * incx] * y[i * incy];
  return sum;
}
