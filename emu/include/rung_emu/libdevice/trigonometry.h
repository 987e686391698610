#pragma once
// Sine, cosine and their inverses, in double precision.

// 2 / pi, from the bit after the point on.
static __device__ constexpr unsigned long long rung_emu_two_over_pi[20] = {
    0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull,
    0xb7246e3a424dd2e0ull, 0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull,
    0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull, 0x1ff897ffde05980full,
    0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull, 0x7527bac7ebe5f17bull,
    0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull, 0xf0cfbc209af4361dull};

// 64 bits of 2 / pi from bit `at` on. Bits at negative positions are 0.
RUNG_EMU_MATH unsigned long long rung_emu_two_over_pi_bits(int at) {
  if (at <= -64) return 0;
  if (at < 0) return rung_emu_two_over_pi[0] >> -at;
  const int word = at / 64, shift = at % 64;
  if (shift == 0) return rung_emu_two_over_pi[word];
  return rung_emu_two_over_pi[word] << shift | rung_emu_two_over_pi[word + 1] >> (64 - shift);
}

namespace rung_emu {

// x = quadrant * pi / 2 + high + low, |high| <= pi / 4.
struct Reduced {
  double high, low;
  int quadrant;
};

// M. Payne, R. Hanek, "Radian reduction for trigonometric functions", 1983: of the product of x and
// 2 / pi, only the bits around the point are computed. x is positive, finite and at least 2^20.
__device__ inline Reduced reduce_large(double x) {
  const int exponent = rung_emu_exponent(x) - 52;
  const unsigned long long significand =
      (__builtin_bit_cast(unsigned long long, x) & ((1ull << 52) - 1)) | 1ull << 52;
  // The product of x = significand * 2^exponent and bits at, at + 1, … of 2 / pi: at is such that
  // bits of more weight are multiples of 4 in it.
  const int at = exponent - 2;
  const unsigned __int128 high =
      static_cast<unsigned __int128>(significand) * rung_emu_two_over_pi_bits(at);
  const unsigned __int128 middle =
      static_cast<unsigned __int128>(significand) * rung_emu_two_over_pi_bits(at + 64);
  const unsigned __int128 low =
      static_cast<unsigned __int128>(significand) * rung_emu_two_over_pi_bits(at + 128);
  const unsigned __int128 sum = (high << 64) + middle + (low >> 64);
  // The two upper bits are the quadrant, what follows is a fraction of it: more than a half counts
  // from the next quadrant downwards.
  const __int128 fraction = static_cast<__int128>(sum << 2);
  const int quadrant = static_cast<int>(sum >> 126) + (fraction < 0 ? 1 : 0);
  const long long upper = static_cast<long long>(fraction >> 64);
  const unsigned long long lower = static_cast<unsigned long long>(fraction);
  constexpr long long inexact = 0x7FF;  // bits of `upper` that a double does not hold
  const double whole = static_cast<double>(upper & ~inexact) * 0x1p-64;
  const double rest =
      static_cast<double>(upper & inexact) * 0x1p-64 + static_cast<double>(lower) * 0x1p-128;
  const double product = whole * (pi / 2);
  const double product_low =
      __builtin_fma(whole, pi / 2, -product) + whole * half_pi_low + rest * (pi / 2);
  const Pair pair = sum_of(product, product_low);
  return {pair.high, pair.low, quadrant};
}

// W. Cody, W. Waite, "Software Manual for the Elementary Functions", 1980: pi / 2 is subtracted in
// parts, so that the first differences are exact.
__device__ inline Reduced reduce(double x) {
  const double a = __builtin_fabs(x);
  Reduced reduced;
  if (a < 0x1p20) {
    const double n = __builtin_rint(a * (2 / pi));
    const double first = __builtin_fma(-n, half_pi_1, a);
    const double high = __builtin_fma(-n, half_pi_2, first);
    const double rest = __builtin_fma(-n, half_pi_2, first - high);
    const Pair pair = sum_of(high, rest - n * half_pi_3);
    reduced = {pair.high, pair.low, static_cast<int>(n)};
  } else {
    reduced = reduce_large(a);
  }
  if (x < 0) reduced = {-reduced.high, -reduced.low, -reduced.quadrant};
  return reduced;
}

// For |x + low| <= pi / 4.
__device__ inline double sine_series(double x, double low) {
  const double z = x * x;
  const double p = polynomial(z, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800,
                              1.0 / 6227020800.0, -1.0 / 1307674368000.0, 1.0 / 355687428096000.0);
  return x + (x * z * p + low * (1 - z * 0.5));
}
__device__ inline double cosine_series(double x, double low) {
  const double z = x * x;
  const double p =
      polynomial(z, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600,
                 -1.0 / 87178291200.0, 1.0 / 20922789888000.0, -1.0 / 6402373705728000.0);
  const double half = 0.5 * z;
  const double w = 1 - half;
  return w + ((1 - w - half) + (z * z * p - x * low));
}

// sin(x + quadrant pi / 2).
__device__ inline double sine_of(const Reduced& x, int quadrant) {
  const int turned = (x.quadrant + quadrant) & 3;
  const double value =
      (turned & 1) == 0 ? sine_series(x.high, x.low) : cosine_series(x.high, x.low);
  return turned < 2 ? value : -value;
}

// x pi, reduced by whole multiples of pi / 2, exactly.
__device__ inline Reduced reduce_pi(double x) {
  const double turns = x - 2 * __builtin_trunc(x / 2);
  const double n = __builtin_rint(2 * turns);
  const double rest = turns - 0.5 * n;
  const double high = rest * pi;
  return {high, __builtin_fma(rest, pi, -high) + rest * (2 * half_pi_low), static_cast<int>(n)};
}

// artan x for |x| <= 0.4.
__device__ inline double arctangent_series(double x) {
  const double z = x * x;
  return x + x * z *
                 polynomial(z, -1.0 / 3, 1.0 / 5, -1.0 / 7, 1.0 / 9, -1.0 / 11, 1.0 / 13, -1.0 / 15,
                            1.0 / 17, -1.0 / 19, 1.0 / 21, -1.0 / 23, 1.0 / 25, -1.0 / 27, 1.0 / 29,
                            -1.0 / 31, 1.0 / 33, -1.0 / 35, 1.0 / 37);
}

}  // namespace rung_emu

RUNG_EMU_MATH double __nv_sin(double x) {
  if (!(__builtin_fabs(x) < __builtin_inf())) return x - x;
  return __builtin_fabs(x) < 1e-8 ? x : rung_emu::sine_of(rung_emu::reduce(x), 0);
}
RUNG_EMU_MATH double __nv_cos(double x) {
  if (!(__builtin_fabs(x) < __builtin_inf())) return x - x;
  return rung_emu::sine_of(rung_emu::reduce(x), 1);
}
RUNG_EMU_MATH void __nv_sincos(double x, double* sine, double* cosine) {
  *sine = __nv_sin(x);
  *cosine = __nv_cos(x);
}
RUNG_EMU_MATH double __nv_tan(double x) { return __nv_sin(x) / __nv_cos(x); }
RUNG_EMU_MATH double __nv_sinpi(double x) {
  if (!(__builtin_fabs(x) < __builtin_inf())) return x - x;
  if (x == __builtin_trunc(x)) return __builtin_copysign(0.0, x);
  return rung_emu::sine_of(rung_emu::reduce_pi(x), 0);
}
RUNG_EMU_MATH double __nv_cospi(double x) {
  if (!(__builtin_fabs(x) < __builtin_inf())) return x - x;
  return rung_emu::sine_of(rung_emu::reduce_pi(x), 1);
}
RUNG_EMU_MATH void __nv_sincospi(double x, double* sine, double* cosine) {
  *sine = __nv_sinpi(x);
  *cosine = __nv_cospi(x);
}

// artan x = artan c + artan((x - c) / (1 + c x)), for c where that is small.
RUNG_EMU_MATH double __nv_atan(double x) {
  using namespace rung_emu;
  const double a = __builtin_fabs(x);
  double result;
  if (!(a >= 0.4)) {
    result = arctangent_series(a);
  } else if (a < 0.75) {
    result = 0.46364760900080611621 +
             (arctangent_series((2 * a - 1) / (2 + a)) + 2.2698777452961687e-17);
  } else if (a < 1.6) {
    result = pi / 4 + (arctangent_series((a - 1) / (a + 1)) + half_pi_low / 2);
  } else if (a < 4) {
    result = 1.10714871779409050302 +
             (arctangent_series((a - 2) / (2 * a + 1)) + 9.4044713735663799e-17);
  } else {
    result = pi / 2 - (arctangent_series(1 / a) - half_pi_low);
  }
  return __builtin_copysign(result, x);
}
RUNG_EMU_MATH double __nv_atan2(double y, double x) {
  using namespace rung_emu;
  if (x != x || y != y) return x + y;
  const double a = __builtin_fabs(y), b = __builtin_fabs(x);
  double angle;  // of the first quadrant
  if (a == b) {
    angle = a == 0 ? 0 : pi / 4;
  } else {
    angle = a < b ? __nv_atan(a / b) : pi / 2 - (__nv_atan(b / a) - half_pi_low);
  }
  if (__nv_signbitd(x)) angle = pi - (angle - 2 * half_pi_low);
  return __builtin_copysign(angle, y);
}
RUNG_EMU_MATH double __nv_asin(double x) {
  return __nv_atan2(x, __builtin_sqrt((1 - x) * (1 + x)));
}
RUNG_EMU_MATH double __nv_acos(double x) {
  return __nv_atan2(__builtin_sqrt((1 - x) * (1 + x)), x);
}
