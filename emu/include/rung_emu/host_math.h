#pragma once
// Functions of CUDA's mathematics that host code may call, too, and the C library does not have.

#define RUNG_EMU_HOST_MATH(NAME, EXPRESSION)                          \
  static inline __host__ double NAME(double a) { return EXPRESSION; } \
  static inline __host__ float NAME##f(float value) {                 \
    const double a = value;                                           \
    return static_cast<float>(EXPRESSION);                            \
  }                                                                   \
  static inline __host__ float NAME(float value) { return NAME##f(value); }
RUNG_EMU_HOST_MATH(rsqrt, 1 / __builtin_sqrt(a))
RUNG_EMU_HOST_MATH(rcbrt, 1 / __builtin_cbrt(a))
RUNG_EMU_HOST_MATH(sinpi, __builtin_sin(__builtin_fmod(a, 2) * 3.14159265358979323846))
RUNG_EMU_HOST_MATH(cospi, __builtin_cos(__builtin_fmod(a, 2) * 3.14159265358979323846))
RUNG_EMU_HOST_MATH(normcdf, 0.5 * __builtin_erfc(a * -0.70710678118654752440))
RUNG_EMU_HOST_MATH(erfcx, __builtin_exp(a* a) * __builtin_erfc(a))
#undef RUNG_EMU_HOST_MATH
