#pragma once
// Functions of double precision: reduction of the argument to where a short series converges, the
// series, and the way back. Errors are a few units in the last place; tests/emu/libdevice_test.cpp
// holds each function to its bound.

namespace rung_emu {

// c0 + c1 x + c2 x^2 + …
template <class T>
__device__ inline T polynomial(T, T c0) {
  return c0;
}
template <class T, class... Rest>
__device__ inline T polynomial(T x, T c0, Rest... rest) {
  return x * polynomial(x, static_cast<T>(rest)...) + c0;
}

// An unevaluated sum of two: what `high` cannot hold is in `low`.
struct Pair {
  double high, low;
};

__device__ inline Pair sum_of(double large, double small) {
  const double high = large + small;
  return {high, small - (high - large)};
}

constexpr double log2_e = 1.4426950408889634074;
// The first has 21 trailing zero bits, so that its products with exponents are exact.
constexpr double ln2_high = 6.93147180369123816490e-01;
constexpr double ln2_low = 1.90821492927058770002e-10;
constexpr double pi = 3.14159265358979323846;
// pi / 2 in three parts, the first two with 33 bits; and what pi / 2 itself, as a double, lacks.
constexpr double half_pi_1 = 1.57079632673412561417e+00;
constexpr double half_pi_2 = 6.07710050630396597660e-11;
constexpr double half_pi_3 = 2.02226624879595063154e-21;
constexpr double half_pi_low = 6.12323399573676603587e-17;

}  // namespace rung_emu

// e^r - 1 for |r| <= ln 2 / 2.
RUNG_EMU_MATH double rung_emu_expm1_series(double r) {
  const double p = rung_emu::polynomial(r, 0.5, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040,
                                        1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800,
                                        1.0 / 479001600, 1.0 / 6227020800.0);
  return r * r * p + r;
}

// e^(x + low), low small against x.
RUNG_EMU_MATH double rung_emu_exp(double x, double low) {
  using namespace rung_emu;
  if (x > 710) return __builtin_inf();
  if (x < -746) return 0;
  if (x != x) return x;
  const double n = __builtin_rint(x * log2_e);
  const double r = __builtin_fma(n, -ln2_low, __builtin_fma(n, -ln2_high, x)) + low;
  return __nv_ldexp(1 + rung_emu_expm1_series(r), static_cast<int>(n));
}
RUNG_EMU_MATH double __nv_exp(double x) { return rung_emu_exp(x, 0); }
RUNG_EMU_MATH double __nv_exp2(double x) {
  if (x > 1025) return __builtin_inf();
  if (x < -1077) return 0;
  if (x != x) return x;
  const double n = __builtin_rint(x);
  const double r = (x - n) * 0.693147180559945309417;
  return __nv_ldexp(1 + rung_emu_expm1_series(r), static_cast<int>(n));
}
RUNG_EMU_MATH double __nv_exp10(double x) {
  constexpr double ln10_high = 2.30258509299404590109, ln10_low = -2.17075622338224935276e-16;
  const double high = x * ln10_high;
  if (!(__builtin_fabs(high) < 1000)) return __nv_exp(high);
  return rung_emu_exp(high, __builtin_fma(x, ln10_high, -high) + x * ln10_low);
}
RUNG_EMU_MATH double __nv_expm1(double x) {
  using namespace rung_emu;
  if (!(__builtin_fabs(x) < 700)) return __nv_exp(x) - 1;
  const double n = __builtin_rint(x * log2_e);
  const double r = __builtin_fma(n, -ln2_low, __builtin_fma(n, -ln2_high, x));
  if (n == 0) return rung_emu_expm1_series(x);
  const double scale = __nv_ldexp(1, static_cast<int>(n));
  return __builtin_fma(scale, rung_emu_expm1_series(r), scale - 1);
}

// ln x = n ln 2 + ln m for m from 1/sqrt 2 to sqrt 2; ln m = 2 artanh s with s = (m - 1) / (m + 1).
// Both sums to about 2^-60; x > 0 and finite. `low` is what x itself is short of.
RUNG_EMU_MATH rung_emu::Pair rung_emu_log(double x, double low) {
  using namespace rung_emu;
  int n = rung_emu_exponent(x);
  double m = __nv_ldexp(x, -n);
  if (m > 1.41421356237309504880) {
    m *= 0.5;
    ++n;
  }
  const double f = m - 1;
  const double s = f / (2 + f);
  // f = s (2 + f) up to what these two have rounded away.
  const double rest = __builtin_fma(-s, f, __builtin_fma(-2.0, s, f));
  const double s_low = (rest + __nv_ldexp(low, -n) * (1 - s)) / (2 + f);
  const double z = s * s;
  const double series = polynomial(z, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13,
                                   2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23);
  const double tail = 2 * s_low + s * z * series + n * ln2_low;
  const Pair whole = sum_of(n * ln2_high, 2 * s);
  return n == 0 ? sum_of(2 * s, tail) : sum_of(whole.high, whole.low + tail);
}

// The special cases of every logarithm: NaN below 0, -infinity at 0.
RUNG_EMU_MATH bool rung_emu_log_is_special(double x, double& result) {
  if (x > 0 && x < __builtin_inf()) return false;
  result = x == 0 ? -__builtin_inf() : x < 0 ? __builtin_nan("") : x;
  return true;
}
RUNG_EMU_MATH double __nv_log(double x) {
  double special;
  return rung_emu_log_is_special(x, special) ? special : rung_emu_log(x, 0).high;
}
RUNG_EMU_MATH double __nv_log1p(double x) {
  double special;
  const double y = 1 + x;
  if (rung_emu_log_is_special(y, special)) return special;
  if (y == 1) return x;
  // 1 + x = y + low, exactly.
  const double low = __builtin_fabs(x) < 1 ? x - (y - 1) : 1 - (y - x);
  return rung_emu_log(y, low).high;
}
RUNG_EMU_MATH double rung_emu_log_to(double x, double factor, double factor_low) {
  const rung_emu::Pair log = rung_emu_log(x, 0);
  const double high = log.high * factor;
  return high + (__builtin_fma(log.high, factor, -high) + log.high * factor_low + log.low * factor);
}
RUNG_EMU_MATH double __nv_log2(double x) {
  double special;
  if (rung_emu_log_is_special(x, special)) return special;
  return rung_emu_log_to(x, 1.4426950408889634074, 2.0355273740931033e-17);
}
RUNG_EMU_MATH double __nv_log10(double x) {
  double special;
  if (rung_emu_log_is_special(x, special)) return special;
  return rung_emu_log_to(x, 0.43429448190325182765, 1.0983196502167650e-17);
}

// |x|^y for |x| that is neither 0, infinite nor NaN.
RUNG_EMU_MATH double rung_emu_pow(double x, double y) {
  const rung_emu::Pair log = rung_emu_log(__builtin_fabs(x), 0);
  const double high = y * log.high;
  if (!(__builtin_fabs(high) < 1000)) return __nv_exp(high);
  return rung_emu_exp(high, __builtin_fma(y, log.high, -high) + y * log.low);
}
RUNG_EMU_MATH double __nv_pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return x + y;
  const bool is_whole = __builtin_trunc(y) == y;
  const bool is_odd = is_whole && __builtin_fabs(y) < 0x1p53 && __builtin_trunc(y / 2) * 2 != y;
  const double a = __builtin_fabs(x);
  if (__builtin_fabs(y) == __builtin_inf()) {
    return a == 1 ? 1 : (a > 1) == (y > 0) ? __builtin_inf() : 0;
  }
  double result;
  if (a == 0 || a == __builtin_inf()) {
    result = (a == 0) == (y > 0) ? 0 : __builtin_inf();
  } else if (x < 0 && !is_whole) {
    return __builtin_nan("");
  } else {
    result = rung_emu_pow(x, y);
  }
  return is_odd && __nv_signbitd(x) ? -result : result;
}
RUNG_EMU_MATH double __nv_powi(double x, int n) { return __nv_pow(x, n); }
RUNG_EMU_MATH double __nv_cbrt(double x) {
  const bool is_small = __builtin_fabs(x) < 0x1p-1000;
  const double a = __builtin_fabs(is_small ? 0x1p162 * x : x);
  if (a == 0 || !(a < __builtin_inf())) return x;
  double root = rung_emu_pow(a, 1.0 / 3);
  // One step of Newton's: the exponent was not quite a third.
  root -= __builtin_fma(root * root, root, -a) / (3 * root * root);
  return __builtin_copysign(is_small ? 0x1p-54 * root : root, x);
}
RUNG_EMU_MATH double __nv_rcbrt(double x) { return 1 / __nv_cbrt(x); }
