#pragma once
// cbrt(float) and its like, which clang's headers declare and leave to CUDA's to define.

#define RUNG_EMU_OVERLOAD(RESULT, NAME) \
  static __device__ __forceinline__ RESULT NAME(float a) { return NAME##f(a); }
#define RUNG_EMU_OVERLOAD_2(NAME) \
  static __device__ __forceinline__ float NAME(float a, float b) { return NAME##f(a, b); }
RUNG_EMU_OVERLOAD(float, acosh)
RUNG_EMU_OVERLOAD(float, asinh)
RUNG_EMU_OVERLOAD(float, atanh)
RUNG_EMU_OVERLOAD(float, cbrt)
RUNG_EMU_OVERLOAD(float, erf)
RUNG_EMU_OVERLOAD(float, erfc)
RUNG_EMU_OVERLOAD(float, exp2)
RUNG_EMU_OVERLOAD(float, expm1)
RUNG_EMU_OVERLOAD(float, lgamma)
RUNG_EMU_OVERLOAD(float, log1p)
RUNG_EMU_OVERLOAD(float, log2)
RUNG_EMU_OVERLOAD(float, logb)
RUNG_EMU_OVERLOAD(float, nearbyint)
RUNG_EMU_OVERLOAD(float, rint)
RUNG_EMU_OVERLOAD(float, round)
RUNG_EMU_OVERLOAD(float, tgamma)
RUNG_EMU_OVERLOAD(float, trunc)
RUNG_EMU_OVERLOAD(int, ilogb)
RUNG_EMU_OVERLOAD(long, lrint)
RUNG_EMU_OVERLOAD(long, lround)
RUNG_EMU_OVERLOAD(long long, llrint)
RUNG_EMU_OVERLOAD(long long, llround)
RUNG_EMU_OVERLOAD(float, rsqrt)
RUNG_EMU_OVERLOAD(float, rcbrt)
RUNG_EMU_OVERLOAD(float, sinpi)
RUNG_EMU_OVERLOAD(float, cospi)
RUNG_EMU_OVERLOAD(float, normcdf)
RUNG_EMU_OVERLOAD_2(copysign)
RUNG_EMU_OVERLOAD_2(fdim)
RUNG_EMU_OVERLOAD_2(fmax)
RUNG_EMU_OVERLOAD_2(fmin)
RUNG_EMU_OVERLOAD_2(hypot)
RUNG_EMU_OVERLOAD_2(nextafter)
RUNG_EMU_OVERLOAD_2(remainder)
#undef RUNG_EMU_OVERLOAD
#undef RUNG_EMU_OVERLOAD_2

static __device__ __forceinline__ float fma(float a, float b, float c) { return fmaf(a, b, c); }
static __device__ __forceinline__ float remquo(float a, float b, int* quotient) {
  return remquof(a, b, quotient);
}
static __device__ __forceinline__ float scalbn(float a, int n) { return scalbnf(a, n); }
static __device__ __forceinline__ float scalbln(float a, long n) { return scalblnf(a, n); }
