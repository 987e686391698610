#pragma once
/* BLAS level 2: as level1.h. `symmetric` and `hermitian` begin the names of calls on such matrices
 * (s, or h for complex ones), full, in bands (b) or packed (p). */

#define RUNG_EMU_BLAS2(CALL, LETTER, T)                                                            \
  CALL(cublas##LETTER##gemv_v2, times,                                                             \
       (cublasHandle_t handle, cublasOperation_t op, int m, int n, const T* alpha, const T* a,     \
        int lda, const T* x, int incx, const T* beta, T* y, int incy),                             \
       (handle, op, m, n, alpha, a, full(m, lda), x, incx, beta, y, incy))                         \
  CALL(cublas##LETTER##gbmv_v2, times,                                                             \
       (cublasHandle_t handle, cublasOperation_t op, int m, int n, int below, int above,           \
        const T* alpha, const T* a, int lda, const T* x, int incx, const T* beta, T* y, int incy), \
       (handle, op, m, n, alpha, a, band(below, above, lda), x, incx, beta, y, incy))              \
  CALL(cublas##LETTER##trmv_v2, triangle_times,                                                    \
       (cublasHandle_t handle, cublasFillMode_t part, cublasOperation_t op,                        \
        cublasDiagType_t diagonal, int n, const T* a, int lda, T* x, int incx),                    \
       (handle, part, op, diagonal, n, a, full(n, lda), x, incx))                                  \
  CALL(cublas##LETTER##tbmv_v2, triangle_times,                                                    \
       (cublasHandle_t handle, cublasFillMode_t part, cublasOperation_t op,                        \
        cublasDiagType_t diagonal, int n, int k, const T* a, int lda, T* x, int incx),             \
       (handle, part, op, diagonal, n, a, band(part, k, lda), x, incx))                            \
  CALL(cublas##LETTER##tpmv_v2, triangle_times,                                                    \
       (cublasHandle_t handle, cublasFillMode_t part, cublasOperation_t op,                        \
        cublasDiagType_t diagonal, int n, const T* a, T* x, int incx),                             \
       (handle, part, op, diagonal, n, a, packed(part, n), x, incx))                               \
  CALL(cublas##LETTER##trsv_v2, triangle_solve,                                                    \
       (cublasHandle_t handle, cublasFillMode_t part, cublasOperation_t op,                        \
        cublasDiagType_t diagonal, int n, const T* a, int lda, T* x, int incx),                    \
       (handle, part, op, diagonal, n, a, full(n, lda), x, incx))                                  \
  CALL(cublas##LETTER##tbsv_v2, triangle_solve,                                                    \
       (cublasHandle_t handle, cublasFillMode_t part, cublasOperation_t op,                        \
        cublasDiagType_t diagonal, int n, int k, const T* a, int lda, T* x, int incx),             \
       (handle, part, op, diagonal, n, a, band(part, k, lda), x, incx))                            \
  CALL(cublas##LETTER##tpsv_v2, triangle_solve,                                                    \
       (cublasHandle_t handle, cublasFillMode_t part, cublasOperation_t op,                        \
        cublasDiagType_t diagonal, int n, const T* a, T* x, int incx),                             \
       (handle, part, op, diagonal, n, a, packed(part, n), x, incx))

/* A += alpha x y^T, or alpha x y^H. */
#define RUNG_EMU_BLAS2_GER(CALL, NAME, T, CONJUGATED)                                          \
  CALL(cublas##NAME##_v2, ger,                                                                 \
       (cublasHandle_t handle, int m, int n, const T* alpha, const T* x, int incx, const T* y, \
        int incy, T* a, int lda),                                                              \
       (handle, m, n, alpha, x, incx, y, incy, a, lda, CONJUGATED))

/* Products with a symmetric or hermitian matrix. */
#define RUNG_EMU_BLAS2_TIMES(CALL, FULL, BAND, PACKED, T, HERMITIAN)                              \
  CALL(cublas##FULL##mv_v2, symmetric_times,                                                      \
       (cublasHandle_t handle, cublasFillMode_t part, int n, const T* alpha, const T* a, int lda, \
        const T* x, int incx, const T* beta, T* y, int incy),                                     \
       (handle, part, n, alpha, a, full(n, lda), x, incx, beta, y, incy, HERMITIAN))              \
  CALL(cublas##BAND##mv_v2, symmetric_times,                                                      \
       (cublasHandle_t handle, cublasFillMode_t part, int n, int k, const T* alpha, const T* a,   \
        int lda, const T* x, int incx, const T* beta, T* y, int incy),                            \
       (handle, part, n, alpha, a, band(part, k, lda), x, incx, beta, y, incy, HERMITIAN))        \
  CALL(cublas##PACKED##mv_v2, symmetric_times,                                                    \
       (cublasHandle_t handle, cublasFillMode_t part, int n, const T* alpha, const T* a,          \
        const T* x, int incx, const T* beta, T* y, int incy),                                     \
       (handle, part, n, alpha, a, packed(part, n), x, incx, beta, y, incy, HERMITIAN))

/* Updates of one part by alpha x x^T, with alpha of type R, and by alpha x y^T + alpha y x^T. */
#define RUNG_EMU_BLAS2_UPDATE(CALL, FULL, PACKED, T, R, HERMITIAN)                                 \
  CALL(cublas##FULL##r_v2, update,                                                                 \
       (cublasHandle_t handle, cublasFillMode_t part, int n, const R* alpha, const T* x, int incx, \
        T* a, int lda),                                                                            \
       (handle, part, n, alpha, x, incx, a, full(n, lda), HERMITIAN))                              \
  CALL(cublas##PACKED##r_v2, update,                                                               \
       (cublasHandle_t handle, cublasFillMode_t part, int n, const R* alpha, const T* x, int incx, \
        T* a),                                                                                     \
       (handle, part, n, alpha, x, incx, a, packed(part, n), HERMITIAN))                           \
  CALL(cublas##PACKED##r2_v2, update2,                                                             \
       (cublasHandle_t handle, cublasFillMode_t part, int n, const T* alpha, const T* x, int incx, \
        const T* y, int incy, T* a),                                                               \
       (handle, part, n, alpha, x, incx, y, incy, a, packed(part, n), HERMITIAN))

#define RUNG_EMU_BLAS2_UPDATE2(CALL, NAME, T, HERMITIAN)                                           \
  CALL(cublas##NAME##r2_v2, update2,                                                               \
       (cublasHandle_t handle, cublasFillMode_t part, int n, const T* alpha, const T* x, int incx, \
        const T* y, int incy, T* a, int lda),                                                      \
       (handle, part, n, alpha, x, incx, y, incy, a, full(n, lda), HERMITIAN))

#define RUNG_EMU_BLAS2_COMPLEX(CALL, LETTER, T, R)                                                 \
  RUNG_EMU_BLAS2(CALL, LETTER, T)                                                                  \
  RUNG_EMU_BLAS2_GER(CALL, LETTER##geru, T, false)                                                 \
  RUNG_EMU_BLAS2_GER(CALL, LETTER##gerc, T, true)                                                  \
  RUNG_EMU_BLAS2_TIMES(CALL, LETTER##he, LETTER##hb, LETTER##hp, T, true)                          \
  RUNG_EMU_BLAS2_UPDATE(CALL, LETTER##he, LETTER##hp, T, R, true)                                  \
  RUNG_EMU_BLAS2_UPDATE2(CALL, LETTER##he, T, true)                                                \
  RUNG_EMU_BLAS2_UPDATE2(CALL, LETTER##sy, T, false)                                               \
  CALL(cublas##LETTER##symv_v2, symmetric_times,                                                   \
       (cublasHandle_t handle, cublasFillMode_t part, int n, const T* alpha, const T* a, int lda,  \
        const T* x, int incx, const T* beta, T* y, int incy),                                      \
       (handle, part, n, alpha, a, full(n, lda), x, incx, beta, y, incy, false))                   \
  CALL(cublas##LETTER##syr_v2, update,                                                             \
       (cublasHandle_t handle, cublasFillMode_t part, int n, const T* alpha, const T* x, int incx, \
        T* a, int lda),                                                                            \
       (handle, part, n, alpha, x, incx, a, full(n, lda), false))

#define RUNG_EMU_BLAS2_REAL(CALL, LETTER, T)                               \
  RUNG_EMU_BLAS2(CALL, LETTER, T)                                          \
  RUNG_EMU_BLAS2_GER(CALL, LETTER##ger, T, false)                          \
  RUNG_EMU_BLAS2_TIMES(CALL, LETTER##sy, LETTER##sb, LETTER##sp, T, false) \
  RUNG_EMU_BLAS2_UPDATE(CALL, LETTER##sy, LETTER##sp, T, T, false)         \
  RUNG_EMU_BLAS2_UPDATE2(CALL, LETTER##sy, T, false)

#define RUNG_EMU_ALL_BLAS2(CALL)                    \
  RUNG_EMU_BLAS2_REAL(CALL, S, float)               \
  RUNG_EMU_BLAS2_REAL(CALL, D, double)              \
  RUNG_EMU_BLAS2_COMPLEX(CALL, C, cuComplex, float) \
  RUNG_EMU_BLAS2_COMPLEX(CALL, Z, cuDoubleComplex, double)
