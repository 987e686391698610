#pragma once
/* BLAS level 1. LETTER and LOWER name the element type T, REAL the calls whose result is of type R.
 * CALL(name, work, parameters, arguments) once for each: the header declares it, the runtime
 * library defines it as `work arguments`. */

#define RUNG_EMU_BLAS1(CALL, LETTER, LOWER, T, REAL, R)                                        \
  CALL(cublas##LETTER##axpy_v2, axpy,                                                          \
       (cublasHandle_t handle, int n, const T* alpha, const T* x, int incx, T* y, int incy),   \
       (handle, n, alpha, x, incx, y, incy))                                                   \
  CALL(cublas##LETTER##scal_v2, scal,                                                          \
       (cublasHandle_t handle, int n, const T* alpha, T* x, int incx),                         \
       (handle, n, alpha, x, incx))                                                            \
  CALL(cublas##LETTER##copy_v2, copy,                                                          \
       (cublasHandle_t handle, int n, const T* x, int incx, T* y, int incy),                   \
       (handle, n, x, incx, y, incy))                                                          \
  CALL(cublas##LETTER##swap_v2, swap,                                                          \
       (cublasHandle_t handle, int n, T* x, int incx, T* y, int incy),                         \
       (handle, n, x, incx, y, incy))                                                          \
  CALL(cublas##REAL##nrm2_v2, norm,                                                            \
       (cublasHandle_t handle, int n, const T* x, int incx, R* result),                        \
       (handle, n, x, incx, result))                                                           \
  CALL(cublas##REAL##asum_v2, sum_of_magnitudes,                                               \
       (cublasHandle_t handle, int n, const T* x, int incx, R* result),                        \
       (handle, n, x, incx, result))                                                           \
  CALL(cublasI##LOWER##amax_v2, extreme,                                                       \
       (cublasHandle_t handle, int n, const T* x, int incx, int* result),                      \
       (handle, n, x, incx, result, true))                                                     \
  CALL(cublasI##LOWER##amin_v2, extreme,                                                       \
       (cublasHandle_t handle, int n, const T* x, int incx, int* result),                      \
       (handle, n, x, incx, result, false))                                                    \
  CALL(cublas##LETTER##rotg_v2, rotg, (cublasHandle_t handle, T * a, T * b, R * c, T * s),     \
       (handle, a, b, c, s))                                                                   \
  CALL(cublas##LETTER##rot_v2, rot,                                                            \
       (cublasHandle_t handle, int n, T* x, int incx, T* y, int incy, const R* c, const T* s), \
       (handle, n, x, incx, y, incy, c, s))

/* Of real numbers alone. */
#define RUNG_EMU_BLAS1_REAL(CALL, LETTER, T)                                                  \
  CALL(cublas##LETTER##dot_v2, dot,                                                           \
       (cublasHandle_t handle, int n, const T* x, int incx, const T* y, int incy, T* result), \
       (handle, n, x, incx, y, incy, result, false))                                          \
  CALL(cublas##LETTER##rotm_v2, rotm,                                                         \
       (cublasHandle_t handle, int n, T* x, int incx, T* y, int incy, const T* parameters),   \
       (handle, n, x, incx, y, incy, parameters))                                             \
  CALL(cublas##LETTER##rotmg_v2, rotmg,                                                       \
       (cublasHandle_t handle, T * d1, T * d2, T * x1, const T* y1, T* parameters),           \
       (handle, d1, d2, x1, y1, parameters))

/* Of complex numbers alone; SMALL names them with a real factor. */
#define RUNG_EMU_BLAS1_COMPLEX(CALL, LETTER, T, SMALL, R)                                      \
  CALL(cublas##LETTER##dotu_v2, dot,                                                           \
       (cublasHandle_t handle, int n, const T* x, int incx, const T* y, int incy, T* result),  \
       (handle, n, x, incx, y, incy, result, false))                                           \
  CALL(cublas##LETTER##dotc_v2, dot,                                                           \
       (cublasHandle_t handle, int n, const T* x, int incx, const T* y, int incy, T* result),  \
       (handle, n, x, incx, y, incy, result, true))                                            \
  CALL(cublas##SMALL##scal_v2, scal,                                                           \
       (cublasHandle_t handle, int n, const R* alpha, T* x, int incx),                         \
       (handle, n, alpha, x, incx))                                                            \
  CALL(cublas##SMALL##rot_v2, rot,                                                             \
       (cublasHandle_t handle, int n, T* x, int incx, T* y, int incy, const R* c, const R* s), \
       (handle, n, x, incx, y, incy, c, s))

#define RUNG_EMU_ALL_BLAS1(CALL)                          \
  RUNG_EMU_BLAS1(CALL, S, s, float, S, float)             \
  RUNG_EMU_BLAS1(CALL, D, d, double, D, double)           \
  RUNG_EMU_BLAS1(CALL, C, c, cuComplex, Sc, float)        \
  RUNG_EMU_BLAS1(CALL, Z, z, cuDoubleComplex, Dz, double) \
  RUNG_EMU_BLAS1_REAL(CALL, S, float)                     \
  RUNG_EMU_BLAS1_REAL(CALL, D, double)                    \
  RUNG_EMU_BLAS1_COMPLEX(CALL, C, cuComplex, Cs, float)   \
  RUNG_EMU_BLAS1_COMPLEX(CALL, Z, cuDoubleComplex, Zd, double)
