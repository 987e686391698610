#pragma once
/* BLAS level 3 and what cuBLAS adds to it: as level1.h. Products of real matrices are declared in
 * cublas_v2.h. */

/* C = alpha A B + beta C, or alpha B A, of a symmetric or hermitian A. */
#define RUNG_EMU_BLAS3_TIMES(CALL, NAME, T, HERMITIAN)                                           \
  CALL(cublas##NAME##mm_v2, symmetric_product,                                                   \
       (cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t part, int m, int n,       \
        const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc), \
       (handle, side, part, m, n, alpha, a, lda, b, ldb, beta, c, ldc, HERMITIAN))

/* One part of C = alpha op(A) op(A)^T + beta C, with scalars of type R; of the sum of two such; of
 * op(A) op(B)^T. */
#define RUNG_EMU_BLAS3_UPDATE(CALL, NAME, T, R, HERMITIAN)                                       \
  CALL(cublas##NAME##rk_v2, rank_update,                                                         \
       (cublasHandle_t handle, cublasFillMode_t part, cublasOperation_t op, int n, int k,        \
        const R* alpha, const T* a, int lda, const R* beta, T* c, int ldc),                      \
       (handle, part, op, n, k, alpha, a, lda, a, lda, beta, c, ldc, HERMITIAN))                 \
  CALL(cublas##NAME##r2k_v2, rank_update2,                                                       \
       (cublasHandle_t handle, cublasFillMode_t part, cublasOperation_t op, int n, int k,        \
        const T* alpha, const T* a, int lda, const T* b, int ldb, const R* beta, T* c, int ldc), \
       (handle, part, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc, HERMITIAN))                 \
  CALL(cublas##NAME##rkx, rank_update,                                                           \
       (cublasHandle_t handle, cublasFillMode_t part, cublasOperation_t op, int n, int k,        \
        const T* alpha, const T* a, int lda, const T* b, int ldb, const R* beta, T* c, int ldc), \
       (handle, part, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc, HERMITIAN))

#define RUNG_EMU_BLAS3(CALL, LETTER, T)                                                            \
  RUNG_EMU_BLAS3_TIMES(CALL, LETTER##sy, T, false)                                                 \
  RUNG_EMU_BLAS3_UPDATE(CALL, LETTER##sy, T, T, false)                                             \
  CALL(cublas##LETTER##trmm_v2, triangle_product,                                                  \
       (cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t part, cublasOperation_t op, \
        cublasDiagType_t diagonal, int m, int n, const T* alpha, const T* a, int lda, const T* b,  \
        int ldb, T* c, int ldc),                                                                   \
       (handle, side, part, op, diagonal, m, n, alpha, a, lda, b, ldb, c, ldc))                    \
  CALL(cublas##LETTER##trsm_v2, triangle_systems,                                                  \
       (cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t part, cublasOperation_t op, \
        cublasDiagType_t diagonal, int m, int n, const T* alpha, const T* a, int lda, T* b,        \
        int ldb),                                                                                  \
       (handle, side, part, op, diagonal, m, n, alpha, a, lda, b, ldb))                            \
  CALL(cublas##LETTER##trsmBatched, triangle_systems_batched,                                      \
       (cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t part, cublasOperation_t op, \
        cublasDiagType_t diagonal, int m, int n, const T* alpha, const T* const a[], int lda,      \
        T* const b[], int ldb, int count),                                                         \
       (handle, side, part, op, diagonal, m, n, alpha, a, lda, b, ldb, count))                     \
  CALL(cublas##LETTER##geam, sum_of_matrices,                                                      \
       (cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,       \
        const T* alpha, const T* a, int lda, const T* beta, const T* b, int ldb, T* c, int ldc),   \
       (handle, op_a, op_b, m, n, alpha, a, lda, beta, b, ldb, c, ldc))                            \
  CALL(cublas##LETTER##dgmm, diagonal_product,                                                     \
       (cublasHandle_t handle, cublasSideMode_t side, int m, int n, const T* a, int lda,           \
        const T* x, int incx, T* c, int ldc),                                                      \
       (handle, side, m, n, a, lda, x, incx, c, ldc))                                              \
  CALL(cublas##LETTER##tpttr, unpack,                                                              \
       (cublasHandle_t handle, cublasFillMode_t part, int n, const T* packed, T* a, int lda),      \
       (handle, part, n, packed, a, lda))                                                          \
  CALL(cublas##LETTER##trttp, pack,                                                                \
       (cublasHandle_t handle, cublasFillMode_t part, int n, const T* a, int lda, T* packed),      \
       (handle, part, n, a, lda, packed))                                                          \
  CALL(cublas##LETTER##gemvBatched, gemv_pointers,                                                 \
       (cublasHandle_t handle, cublasOperation_t op, int m, int n, const T* alpha,                 \
        const T* const a[], int lda, const T* const x[], int incx, const T* beta, T* const y[],    \
        int incy, int count),                                                                      \
       (handle, op, m, n, alpha, a, lda, x, incx, beta, y, incy, count))                           \
  CALL(cublas##LETTER##gemvStridedBatched, gemv_strided,                                           \
       (cublasHandle_t handle, cublasOperation_t op, int m, int n, const T* alpha, const T* a,     \
        int lda, long long stride_a, const T* x, int incx, long long stride_x, const T* beta,      \
        T* y, int incy, long long stride_y, int count),                                            \
       (handle, op, m, n, alpha, a, lda, stride_a, x, incx, stride_x, beta, y, incy, stride_y,     \
        count))

#define RUNG_EMU_BLAS3_PRODUCT(CALL, NAME, T)                                                      \
  CALL(                                                                                            \
      cublas##NAME, complex_product,                                                               \
      (cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, \
       const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc),    \
      (handle, op_a, op_b, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1))

#define RUNG_EMU_BLAS3_COMPLEX(CALL, LETTER, T, R)                                            \
  RUNG_EMU_BLAS3(CALL, LETTER, T)                                                             \
  RUNG_EMU_BLAS3_TIMES(CALL, LETTER##he, T, true)                                             \
  RUNG_EMU_BLAS3_UPDATE(CALL, LETTER##he, T, R, true)                                         \
  RUNG_EMU_BLAS3_PRODUCT(CALL, LETTER##gemm_v2, T)                                            \
  RUNG_EMU_BLAS3_PRODUCT(CALL, LETTER##gemm3m, T)                                             \
  CALL(cublas##LETTER##gemmStridedBatched, complex_product,                                   \
       (cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,  \
        int k, const T* alpha, const T* a, int lda, long long stride_a, const T* b, int ldb,  \
        long long stride_b, const T* beta, T* c, int ldc, long long stride_c, int count),     \
       (handle, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, \
        stride_c, count))                                                                     \
  CALL(cublas##LETTER##gemmBatched, complex_product_pointers,                                 \
       (cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,  \
        int k, const T* alpha, const T* const a[], int lda, const T* const b[], int ldb,      \
        const T* beta, T* const c[], int ldc, int count),                                     \
       (handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, count))

#define RUNG_EMU_ALL_BLAS3(CALL)                    \
  RUNG_EMU_BLAS3(CALL, S, float)                    \
  RUNG_EMU_BLAS3(CALL, D, double)                   \
  RUNG_EMU_BLAS3_COMPLEX(CALL, C, cuComplex, float) \
  RUNG_EMU_BLAS3_COMPLEX(CALL, Z, cuDoubleComplex, double)
