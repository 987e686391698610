#pragma once
// The less common intrinsics of __half and __nv_bfloat16: comparisons that are true for NaN (u) or
// give a mask, results clamped to [0, 1] (_sat), without fusion (_rn), with NaN handed on (_nan).

namespace rung_emu {

/// Clamped to [0, 1]; NaN becomes 0.
static __host__ __device__ __forceinline__ float to_unit(float value) {
  return value > 0 ? (value < 1 ? value : 1.0f) : 0.0f;
}

}  // namespace rung_emu

#define RUNG_EMU_SMALL_FLOAT_UNORDERED(T, OP, NAME)                                               \
  RUNG_EMU_HD bool __h##NAME##u(T a, T b) {                                                       \
    return a.value OP b.value || a.value != a.value || b.value != b.value;                        \
  }                                                                                               \
  RUNG_EMU_HD T##2 __h##NAME##u2(T##2 a, T##2 b) {                                                \
    return T##2 {T(__h##NAME##u(a.x, b.x) ? 1.0f : 0.0f),                                         \
                 T(__h##NAME##u(a.y, b.y) ? 1.0f : 0.0f)};                                        \
  }                                                                                               \
  RUNG_EMU_HD bool __hb##NAME##u2(T##2 a, T##2 b) {                                               \
    return __h##NAME##u(a.x, b.x) && __h##NAME##u(a.y, b.y);                                      \
  }                                                                                               \
  RUNG_EMU_HD unsigned int __h##NAME##2_mask(T##2 a, T##2 b) {                                    \
    return (__h##NAME(a.x, b.x) ? 0xFFFFu : 0u) | (__h##NAME(a.y, b.y) ? 0xFFFF0000u : 0u);       \
  }                                                                                               \
  RUNG_EMU_HD unsigned int __h##NAME##u2_mask(T##2 a, T##2 b) {                                   \
    return (__h##NAME##u(a.x, b.x) ? 0xFFFFu : 0u) | (__h##NAME##u(a.y, b.y) ? 0xFFFF0000u : 0u); \
  }

// NAME_rn and NAME_sat.
#define RUNG_EMU_SMALL_FLOAT_ROUNDED_OPERATION(T, NAME)                           \
  RUNG_EMU_HD T NAME##_rn(T a, T b) { return NAME(a, b); }                        \
  RUNG_EMU_HD T##2 NAME##2_rn(T##2 a, T##2 b) { return NAME##2(a, b); }           \
  RUNG_EMU_HD T NAME##_sat(T a, T b) { return T(rung_emu::to_unit(NAME(a, b))); } \
  RUNG_EMU_HD T##2 NAME##2_sat(T##2 a, T##2 b) {                                  \
    return T##2 {NAME##_sat(a.x, b.x), NAME##_sat(a.y, b.y)};                     \
  }

#define RUNG_EMU_SMALL_FLOAT_NAN(T, NAME)                                                       \
  RUNG_EMU_HD T NAME##_nan(T a, T b) { return __hisnan(a) ? a : __hisnan(b) ? b : NAME(a, b); } \
  RUNG_EMU_HD T##2 NAME##2_nan(T##2 a, T##2 b) {                                                \
    return T##2 {NAME##_nan(a.x, b.x), NAME##_nan(a.y, b.y)};                                   \
  }

#define RUNG_EMU_SMALL_FLOAT_VARIANTS(T)                                                           \
  RUNG_EMU_SMALL_FLOAT_UNORDERED(T, ==, eq)                                                        \
  RUNG_EMU_SMALL_FLOAT_UNORDERED(T, !=, ne)                                                        \
  RUNG_EMU_SMALL_FLOAT_UNORDERED(T, <, lt)                                                         \
  RUNG_EMU_SMALL_FLOAT_UNORDERED(T, <=, le)                                                        \
  RUNG_EMU_SMALL_FLOAT_UNORDERED(T, >, gt)                                                         \
  RUNG_EMU_SMALL_FLOAT_UNORDERED(T, >=, ge)                                                        \
  RUNG_EMU_SMALL_FLOAT_ROUNDED_OPERATION(T, __hadd)                                                \
  RUNG_EMU_SMALL_FLOAT_ROUNDED_OPERATION(T, __hsub)                                                \
  RUNG_EMU_SMALL_FLOAT_ROUNDED_OPERATION(T, __hmul)                                                \
  RUNG_EMU_SMALL_FLOAT_NAN(T, __hmax)                                                              \
  RUNG_EMU_SMALL_FLOAT_NAN(T, __hmin)                                                              \
  RUNG_EMU_HD T##2 __hisnan2(T##2 a) {                                                             \
    return T##2 {T(__hisnan(a.x) ? 1.0f : 0.0f), T(__hisnan(a.y) ? 1.0f : 0.0f)};                  \
  }                                                                                                \
  RUNG_EMU_SMALL_FLOAT_FUNCTION(T, log10, log10f(a))                                               \
  RUNG_EMU_SMALL_FLOAT_FUNCTION(T, exp10, exp10f(a))                                               \
  RUNG_EMU_SMALL_FLOAT_FUNCTION(T, tanh_approx, tanhf(a))                                          \
  RUNG_EMU_HD bool operator==(const T##2 & a, const T##2 & b) { return a.x == b.x && a.y == b.y; } \
  RUNG_EMU_HD bool operator!=(const T##2 & a, const T##2 & b) { return !(a == b); }                \
  RUNG_EMU_HD T& operator++(T& a) { return a = a + T(1.0f); }                                      \
  RUNG_EMU_HD T& operator--(T& a) { return a = a - T(1.0f); }                                      \
  RUNG_EMU_SMALL_FLOAT_HINTED(T)                                                                   \
  RUNG_EMU_SMALL_FLOAT_HINTED(T##2)

#ifdef __CUDA__
#define RUNG_EMU_SMALL_FLOAT_HINTED(T) RUNG_EMU_HINTED(T)
#else  // host code by itself
#define RUNG_EMU_SMALL_FLOAT_HINTED(T)
#endif

// Behind __hfma: the result clamped to [0, 1], or negative ones replaced by 0; and complex numbers.
#define RUNG_EMU_SMALL_FLOAT_FMA_VARIANTS(T)                                                \
  RUNG_EMU_HD T __hfma_sat(T a, T b, T c) { return T(rung_emu::to_unit(__hfma(a, b, c))); } \
  RUNG_EMU_HD T __hfma_relu(T a, T b, T c) {                                                \
    const T value = __hfma(a, b, c);                                                        \
    return __hlt(value, T(0.0f)) ? T(0.0f) : value;                                         \
  }                                                                                         \
  RUNG_EMU_HD T##2 __hfma2_sat(T##2 a, T##2 b, T##2 c) {                                    \
    return T##2 {__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)};                     \
  }                                                                                         \
  RUNG_EMU_HD T##2 __hfma2_relu(T##2 a, T##2 b, T##2 c) {                                   \
    return T##2 {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)};                   \
  }                                                                                         \
  RUNG_EMU_HD T##2 __hcmadd(T##2 a, T##2 b, T##2 c) {                                       \
    const T re = __hfma(a.x, b.x, c.x), im = __hfma(a.x, b.y, c.y);                         \
    return T##2 {__hfma(-a.y, b.y, re), __hfma(a.y, b.x, im)};                              \
  }
