#pragma once
/* Complex numbers as pairs: cuFloatComplex, cuDoubleComplex and their arithmetic. */

#define CU_COMPLEX_H_

#include <math.h>

#include "cuda_runtime.h"

#define RUNG_EMU_COMPLEX(TYPE, PAIR, LETTER, COMPLEX, HYPOT, FABS)                             \
  typedef PAIR COMPLEX;                                                                        \
  static __host__ __device__ inline TYPE cuCreal##LETTER(COMPLEX a) { return a.x; }            \
  static __host__ __device__ inline TYPE cuCimag##LETTER(COMPLEX a) { return a.y; }            \
  static __host__ __device__ inline COMPLEX make_##COMPLEX(TYPE re, TYPE im) {                 \
    COMPLEX a;                                                                                 \
    a.x = re;                                                                                  \
    a.y = im;                                                                                  \
    return a;                                                                                  \
  }                                                                                            \
  static __host__ __device__ inline COMPLEX cuConj##LETTER(COMPLEX a) {                        \
    return make_##COMPLEX(a.x, -a.y);                                                          \
  }                                                                                            \
  static __host__ __device__ inline COMPLEX cuCadd##LETTER(COMPLEX a, COMPLEX b) {             \
    return make_##COMPLEX(a.x + b.x, a.y + b.y);                                               \
  }                                                                                            \
  static __host__ __device__ inline COMPLEX cuCsub##LETTER(COMPLEX a, COMPLEX b) {             \
    return make_##COMPLEX(a.x - b.x, a.y - b.y);                                               \
  }                                                                                            \
  static __host__ __device__ inline COMPLEX cuCmul##LETTER(COMPLEX a, COMPLEX b) {             \
    return make_##COMPLEX(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                       \
  }                                                                                            \
  /* Scaled by |b|, so that nothing between overflows. */                                      \
  static __host__ __device__ inline COMPLEX cuCdiv##LETTER(COMPLEX a, COMPLEX b) {             \
    const TYPE scale = 1 / (FABS(b.x) + FABS(b.y));                                            \
    const TYPE ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale;         \
    const TYPE inverse = 1 / (bx * bx + by * by);                                              \
    return make_##COMPLEX((ax * bx + ay * by) * inverse, (ay * bx - ax * by) * inverse);       \
  }                                                                                            \
  static __host__ __device__ inline TYPE cuCabs##LETTER(COMPLEX a) { return HYPOT(a.x, a.y); } \
  static __host__ __device__ inline COMPLEX cuCfma##LETTER(COMPLEX a, COMPLEX b, COMPLEX c) {  \
    return cuCadd##LETTER(cuCmul##LETTER(a, b), c);                                            \
  }
RUNG_EMU_COMPLEX(float, float2, f, cuFloatComplex, hypotf, fabsf)
RUNG_EMU_COMPLEX(double, double2, , cuDoubleComplex, hypot, fabs)
#undef RUNG_EMU_COMPLEX

typedef cuFloatComplex cuComplex;

static __host__ __device__ inline cuComplex make_cuComplex(float re, float im) {
  return make_cuFloatComplex(re, im);
}
static __host__ __device__ inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) {
  return make_cuDoubleComplex(a.x, a.y);
}
static __host__ __device__ inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) {
  return make_cuFloatComplex((float)a.x, (float)a.y);
}
