/* A cuBLAS that prints its calls. librung_cublas forwards calls to it. */

#include <stdio.h>

static int handle;

int cublasCreate_v2(void** out) {
  *out = &handle;
  return puts("create") < 0;
}
int cublasDestroy_v2(void* h) { return h != &handle || puts("destroy") < 0; }
static void* stream;
int cublasSetStream_v2(void* h, void* s) {
  stream = s;
  return h != &handle || printf("set stream %d\n", (int)(size_t)s) < 0;
}
int cublasGetStream_v2(void* h, void** s) {
  *s = stream;
  return h != &handle;
}
int cublasGetPointerMode_v2(void* h, int* mode) {
  *mode = 0;
  return h != &handle;
}
int cublasGetMathMode(void* h, int* mode) {
  *mode = 0;
  return h != &handle;
}
int cublasSgemm_v2(void* h, int op_a, int op_b, int m, int n, int k, const float* alpha,
                   const float* a, int lda, const float* b, int ldb, const float* beta, float* c,
                   int ldc) {
  (void)alpha, (void)a, (void)lda, (void)b, (void)ldb, (void)beta, (void)c, (void)ldc;
  return h != &handle || printf("sgemm %d %d %d %d %d\n", op_a, op_b, m, n, k) < 0;
}
int cublasSgemv_v2(void* h) { return h != &handle || puts("sgemv") < 0; }
int cublasGemmEx(void* h) { return h != &handle || puts("other gemm") < 0; }
int cublasDdot_v2(void* h, int n, const double* x, int incx, const double* y, int incy,
                  double* result) {
  (void)x, (void)incx, (void)y, (void)incy, (void)result;
  return h != &handle || printf("dot %d\n", n) < 0;
}
