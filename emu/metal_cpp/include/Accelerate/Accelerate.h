#pragma once
// The part of Accelerate that programs compare their kernels with: CBLAS, which rung-metal links from an
// installed BLAS, and some functions of vDSP.

#include <cstddef>

extern "C" {

enum CBLAS_ORDER { CblasRowMajor = 101, CblasColMajor = 102 };
enum CBLAS_UPLO { CblasUpper = 121, CblasLower = 122 };
enum CBLAS_TRANSPOSE { CblasNoTrans = 111, CblasTrans = 112, CblasConjTrans = 113 };

#define RUNG_CBLAS(T, p)                                                                           \
  T cblas_##p##dot(int n, const T* x, int x_stride, const T* y, int y_stride);                     \
  T cblas_##p##nrm2(int n, const T* x, int x_stride);                                              \
  T cblas_##p##asum(int n, const T* x, int x_stride);                                              \
  void cblas_##p##axpy(int n, T alpha, const T* x, int x_stride, T* y, int y_stride);              \
  void cblas_##p##scal(int n, T alpha, T* x, int x_stride);                                        \
  void cblas_##p##copy(int n, const T* x, int x_stride, T* y, int y_stride);                       \
  void cblas_##p##gemv(CBLAS_ORDER order, CBLAS_TRANSPOSE trans, int m, int n, T alpha,            \
                       const T* a, int lda, const T* x, int x_stride, T beta, T* y, int y_stride); \
  void cblas_##p##sbmv(CBLAS_ORDER order, CBLAS_UPLO uplo, int n, int k, T alpha, const T* a,      \
                       int lda, const T* x, int x_stride, T beta, T* y, int y_stride);             \
  void cblas_##p##gemm(CBLAS_ORDER order, CBLAS_TRANSPOSE trans_a, CBLAS_TRANSPOSE trans_b, int m, \
                       int n, int k, T alpha, const T* a, int lda, const T* b, int ldb, T beta,    \
                       T* c, int ldc);
RUNG_CBLAS(float, s)
RUNG_CBLAS(double, d)
#undef RUNG_CBLAS

}  // extern "C"

using vDSP_Stride = long;
using vDSP_Length = unsigned long;

#define RUNG_VDSP_EACH(name, T, expression)                                                      \
  inline void name(const T* a, vDSP_Stride ia, const T* b, vDSP_Stride ib, T* c, vDSP_Stride ic, \
                   vDSP_Length n) {                                                              \
    for (vDSP_Length k = 0; k < n; ++k) {                                                        \
      const auto i = static_cast<vDSP_Stride>(k);                                                \
      c[i * ic] = expression;                                                                    \
    }                                                                                            \
  }
RUNG_VDSP_EACH(vDSP_vadd, float, a[i * ia] + b[i * ib])
RUNG_VDSP_EACH(vDSP_vaddD, double, a[i * ia] + b[i * ib])
RUNG_VDSP_EACH(vDSP_vmul, float, a[i * ia] * b[i * ib])
RUNG_VDSP_EACH(vDSP_vmulD, double, a[i * ia] * b[i * ib])
RUNG_VDSP_EACH(vDSP_vsub, float, b[i * ib] - a[i * ia])  // the second minus the first
RUNG_VDSP_EACH(vDSP_vdiv, float, b[i * ib] / a[i * ia])
#undef RUNG_VDSP_EACH

inline void vDSP_dotpr(const float* a, vDSP_Stride ia, const float* b, vDSP_Stride ib, float* c,
                       vDSP_Length n) {
  float sum = 0;
  for (vDSP_Stride i = 0; i < static_cast<vDSP_Stride>(n); ++i) sum += a[i * ia] * b[i * ib];
  *c = sum;
}
inline void vDSP_sve(const float* a, vDSP_Stride ia, float* c, vDSP_Length n) {
  float sum = 0;
  for (vDSP_Stride i = 0; i < static_cast<vDSP_Stride>(n); ++i) sum += a[i * ia];
  *c = sum;
}
/// d = a b + c with a scalar b.
inline void vDSP_vsma(const float* a, vDSP_Stride ia, const float* b, const float* c,
                      vDSP_Stride ic, float* d, vDSP_Stride id, vDSP_Length n) {
  for (vDSP_Stride i = 0; i < static_cast<vDSP_Stride>(n); ++i)
    d[i * id] = a[i * ia] * *b + c[i * ic];
}
inline void vDSP_vsmul(const float* a, vDSP_Stride ia, const float* b, float* c, vDSP_Stride ic,
                       vDSP_Length n) {
  for (vDSP_Stride i = 0; i < static_cast<vDSP_Stride>(n); ++i) c[i * ic] = a[i * ia] * *b;
}
/// The product of row-major matrices: c (m x n) = a (m x p) b (p x n), with strides of elements.
inline void vDSP_mmul(const float* a, vDSP_Stride ia, const float* b, vDSP_Stride ib, float* c,
                      vDSP_Stride ic, vDSP_Length m, vDSP_Length n, vDSP_Length p) {
  for (vDSP_Length i = 0; i < m; ++i) {
    for (vDSP_Length j = 0; j < n; ++j) {
      float sum = 0;
      for (vDSP_Length k = 0; k < p; ++k) {
        sum += a[static_cast<vDSP_Stride>(i * p + k) * ia] *
               b[static_cast<vDSP_Stride>(k * n + j) * ib];
      }
      c[static_cast<vDSP_Stride>(i * n + j) * ic] = sum;
    }
  }
}
