/* Calls cuBLAS without a GPU: librung_cublas forwards even the calls that it implements. */

#include <stddef.h>

int cublasCreate_v2(void** handle);
int cublasDestroy_v2(void* handle);
int cublasSetStream_v2(void* handle, void* stream);
int cublasSgemm_v2(void* handle, int op_a, int op_b, int m, int n, int k, const float* alpha,
                   const float* a, int lda, const float* b, int ldb, const float* beta, float* c,
                   int ldc);
int cublasSgemv_v2(void* handle);
int cublasGemmEx(void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha,
                 const void* a, int a_type, int lda, const void* b, int b_type, int ldb,
                 const void* beta, void* c, int c_type, int ldc, int compute, int algorithm);
int cublasDdot_v2(void* handle, int n, const double* x, int incx, const double* y, int incy,
                  double* result);
int cublasLtMatmul(void* handle, const void* descriptor, const void* alpha, const void* a,
                   const void* a_layout, const void* b, const void* b_layout, const void* beta,
                   const void* c, const void* c_layout, void* d, const void* d_layout,
                   const void* algorithm, void* workspace, size_t workspace_bytes, void* stream);

int main(void) {
  void* handle = NULL;
  const float one = 1;
  float matrix[16] = {0};
  double vector[7] = {0}, result = 0;
  int failed = cublasCreate_v2(&handle);
  failed |= cublasSetStream_v2(handle, (void*)5);
  failed |= cublasSgemm_v2(handle, 0, 1, 2, 3, 4, &one, matrix, 2, matrix, 3, &one, matrix, 2);
  failed |= cublasSgemv_v2(handle); /* not implemented by Rung */
  failed |= cublasGemmEx(handle, 0, 0, 2, 2, 2, &one, matrix, 99, 2, matrix, 99, 2, &one, matrix,
                         99, 2, 68, -1); /* types not supported by Rung */
  failed |= cublasDdot_v2(handle, 7, vector, 1, vector, 1, &result);
  failed |= cublasLtMatmul(handle, NULL, &one, matrix, NULL, matrix, NULL, &one, matrix, NULL,
                           matrix, NULL, NULL, NULL, 64, (void*)5);
  failed |= cublasDestroy_v2(handle);
  return failed;
}
