#pragma once
// <metal_math>: functions of floating-point numbers, element by element. They compute in float, or
// in double, by the functions that CUDA programs use, and round once; metal::, precise:: and fast::
// are the same.

#define __device__
#include "rung_emu/libdevice.h"
#undef __device__

namespace metal {
namespace rung_detail {
namespace scalar {

RUNG_METAL float sqrt(float x) { return __nvvm_sqrt_rn_f(x); }
RUNG_METAL float rsqrt(float x) { return 1 / __nvvm_sqrt_rn_f(x); }
RUNG_METAL float fract(float x) {
  // Below 1 also for tiny negative numbers.
  return __builtin_fminf(x - __builtin_floorf(x), 0x1.fffffep-1f);
}
RUNG_METAL float sign(float x) { return x != x ? 0.0f : x > 0 ? 1.0f : x < 0 ? -1.0f : x; }
RUNG_METAL float saturate(float x) { return __builtin_fminf(__builtin_fmaxf(x, 0), 1); }
RUNG_METAL float powr(float x, float y) { return x < 0 ? __builtin_nanf("") : __nv_powf(x, y); }
RUNG_METAL float step(float edge, float x) { return x < edge ? 0.0f : 1.0f; }
RUNG_METAL float tanpi(float x) { return static_cast<float>(__nv_sinpi(x) / __nv_cospi(x)); }
RUNG_METAL float fmod(float x, float y) { return __nv_fmodf(x, y); }
RUNG_METAL float divide(float x, float y) { return x / y; }
RUNG_METAL float nextafter(float x, float y) {
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  if (x == 0) return __builtin_copysignf(0x1p-149f, y);
  const int bits = __builtin_bit_cast(int, x);
  return __builtin_bit_cast(float, bits + ((x < y) == (x > 0) ? 1 : -1));
}

}  // namespace scalar
}  // namespace rung_detail

#define RUNG_METAL_UNARY(name, function)                            \
  template <class T, class R = rung_detail::floating_t<T>>          \
  RUNG_METAL R name(T x) {                                          \
    return rung_detail::map<R>([](float v) { return function(v); }, \
                               rung_detail::unpacked_t<T>(x));      \
  }
#define RUNG_METAL_BINARY(name, function)                                          \
  template <class A, class B,                                                      \
            class R = rung_detail::floating_t<rung_detail::common_number_t<A, B>>> \
  RUNG_METAL R name(A a, B b) {                                                    \
    return rung_detail::map<R>([](float v, float w) { return function(v, w); },    \
                               rung_detail::make<R>(a), rung_detail::make<R>(b));  \
  }

// Rounding and comparing are exact in float, so half and bfloat have their own results.
#define RUNG_METAL_MATH                                                                           \
  RUNG_METAL_UNARY(acos, __nv_acosf)                                                              \
  RUNG_METAL_UNARY(acosh, __nv_acoshf)                                                            \
  RUNG_METAL_UNARY(asin, __nv_asinf)                                                              \
  RUNG_METAL_UNARY(asinh, __nv_asinhf)                                                            \
  RUNG_METAL_UNARY(atan, __nv_atanf)                                                              \
  RUNG_METAL_UNARY(atanh, __nv_atanhf)                                                            \
  RUNG_METAL_UNARY(ceil, __builtin_ceilf)                                                         \
  RUNG_METAL_UNARY(cos, __nv_cosf)                                                                \
  RUNG_METAL_UNARY(cosh, __nv_coshf)                                                              \
  RUNG_METAL_UNARY(cospi, __nv_cospif)                                                            \
  RUNG_METAL_UNARY(exp, __nv_expf)                                                                \
  RUNG_METAL_UNARY(exp10, __nv_exp10f)                                                            \
  RUNG_METAL_UNARY(exp2, __nv_exp2f)                                                              \
  RUNG_METAL_UNARY(fabs, __builtin_fabsf)                                                         \
  RUNG_METAL_UNARY(floor, __builtin_floorf)                                                       \
  RUNG_METAL_UNARY(fract, rung_detail::scalar::fract)                                             \
  RUNG_METAL_UNARY(log, __nv_logf)                                                                \
  RUNG_METAL_UNARY(log10, __nv_log10f)                                                            \
  RUNG_METAL_UNARY(log2, __nv_log2f)                                                              \
  RUNG_METAL_UNARY(rint, __builtin_rintf)                                                         \
  RUNG_METAL_UNARY(round, __nv_roundf)                                                            \
  RUNG_METAL_UNARY(rsqrt, rung_detail::scalar::rsqrt)                                             \
  RUNG_METAL_UNARY(sin, __nv_sinf)                                                                \
  RUNG_METAL_UNARY(sinh, __nv_sinhf)                                                              \
  RUNG_METAL_UNARY(sinpi, __nv_sinpif)                                                            \
  RUNG_METAL_UNARY(sqrt, rung_detail::scalar::sqrt)                                               \
  RUNG_METAL_UNARY(tan, __nv_tanf)                                                                \
  RUNG_METAL_UNARY(tanh, __nv_tanhf)                                                              \
  RUNG_METAL_UNARY(tanpi, rung_detail::scalar::tanpi)                                             \
  RUNG_METAL_UNARY(trunc, __builtin_truncf)                                                       \
  RUNG_METAL_BINARY(atan2, __nv_atan2f)                                                           \
  RUNG_METAL_BINARY(copysign, __builtin_copysignf)                                                \
  RUNG_METAL_BINARY(divide, rung_detail::scalar::divide)                                          \
  RUNG_METAL_BINARY(fdim, __nv_fdimf)                                                             \
  RUNG_METAL_BINARY(fmax, __builtin_fmaxf)                                                        \
  RUNG_METAL_BINARY(fmin, __builtin_fminf)                                                        \
  RUNG_METAL_BINARY(fmod, rung_detail::scalar::fmod)                                              \
  RUNG_METAL_BINARY(pow, __nv_powf)                                                               \
  RUNG_METAL_BINARY(powr, rung_detail::scalar::powr)                                              \
                                                                                                  \
  template <class A, class B, class C,                                                            \
            class R = rung_detail::floating_t<                                                    \
                rung_detail::common_number_t<rung_detail::common_number_t<A, B>, C>>>             \
  RUNG_METAL R fma(A a, B b, C c) {                                                               \
    return rung_detail::map<R>([](float v, float w, float x) { return __builtin_fmaf(v, w, x); }, \
                               rung_detail::make<R>(a), rung_detail::make<R>(b),                  \
                               rung_detail::make<R>(c));                                          \
  }                                                                                               \
  template <class T, class R = rung_detail::floating_t<T>>                                        \
  RUNG_METAL R fmax3(T a, T b, T c) {                                                             \
    return fmax(fmax(a, b), c);                                                                   \
  }                                                                                               \
  template <class T, class R = rung_detail::floating_t<T>>                                        \
  RUNG_METAL R fmin3(T a, T b, T c) {                                                             \
    return fmin(fmin(a, b), c);                                                                   \
  }                                                                                               \
  template <class T, class R = rung_detail::floating_t<T>>                                        \
  RUNG_METAL R fmedian3(T a, T b, T c) {                                                          \
    return fmax(fmin(a, b), fmin(fmax(a, b), c));                                                 \
  }                                                                                               \
  template <class T, class I, class R = rung_detail::floating_t<T>>                               \
  RUNG_METAL R ldexp(T x, I exponent) {                                                           \
    return rung_detail::map<R>([](float v, int e) { return __nv_ldexpf(v, e); }, x, exponent);    \
  }                                                                                               \
  template <class T, class S, class R = rung_detail::floating_t<T>>                               \
  RUNG_METAL R sincos(T x, S& cosine) {                                                           \
    cosine = cos(x);                                                                              \
    return sin(x);                                                                                \
  }                                                                                               \
  template <class T, class S, class R = rung_detail::floating_t<T>>                               \
  RUNG_METAL R modf(T x, S& whole) {                                                              \
    whole = trunc(x);                                                                             \
    return copysign(x - whole, x);                                                                \
  }                                                                                               \
  template <class T, class S, class R = rung_detail::floating_t<T>>                               \
  RUNG_METAL R frexp(T x, S& exponent) {                                                          \
    R result{};                                                                                   \
    for (int i = 0; i < rung_detail::count<R>; ++i) {                                             \
      int e = 0;                                                                                  \
      const float mantissa =                                                                      \
          __nv_frexpf(static_cast<float>(rung_detail::Components<T>::at(x, i)), &e);              \
      if constexpr (rung_detail::is_vector<R>) {                                                  \
        result[i] = static_cast<rung_detail::element_t<R>>(mantissa);                             \
        exponent[i] = e;                                                                          \
      } else {                                                                                    \
        result = static_cast<R>(mantissa);                                                        \
        exponent = e;                                                                             \
      }                                                                                           \
    }                                                                                             \
    return result;                                                                                \
  }                                                                                               \
  template <class T, class R = rung_detail::floating_t<T>>                                        \
  RUNG_METAL auto ilogb(T x) {                                                                    \
    return rung_detail::map<rung_detail::with_element_t<R, int>>(                                 \
        [](float v) { return __nv_ilogbf(v); }, x);                                               \
  }

RUNG_METAL_MATH
namespace precise {
RUNG_METAL_MATH
}
namespace fast {
RUNG_METAL_MATH
}
#undef RUNG_METAL_MATH

RUNG_METAL_UNARY(sign, rung_detail::scalar::sign)
RUNG_METAL_UNARY(saturate, rung_detail::scalar::saturate)
RUNG_METAL_BINARY(step, rung_detail::scalar::step)
RUNG_METAL_BINARY(nextafter, rung_detail::scalar::nextafter)
#undef RUNG_METAL_UNARY
#undef RUNG_METAL_BINARY

}  // namespace metal
