#pragma once
// Norms, the error function and the gamma function, in double precision.

// Scaled by a power of two, so that squares neither overflow nor vanish.
RUNG_EMU_MATH double rung_emu_norm(double a, double b, double c, double d) {
  const double most = __builtin_fmax(__builtin_fmax(__builtin_fabs(a), __builtin_fabs(b)),
                                     __builtin_fmax(__builtin_fabs(c), __builtin_fabs(d)));
  if (most == __builtin_inf()) return most;
  const double sum = a + b + c + d;
  if (most == 0 || sum != sum) return __builtin_fabs(sum);
  const int n = rung_emu_exponent(most);
  a = __nv_ldexp(a, -n);
  b = __nv_ldexp(b, -n);
  c = __nv_ldexp(c, -n);
  d = __nv_ldexp(d, -n);
  return __nv_ldexp(__builtin_sqrt(a * a + b * b + c * c + d * d), n);
}
RUNG_EMU_MATH double __nv_hypot(double a, double b) { return rung_emu_norm(a, b, 0, 0); }
RUNG_EMU_MATH double __nv_norm3d(double a, double b, double c) { return rung_emu_norm(a, b, c, 0); }
RUNG_EMU_MATH double __nv_norm4d(double a, double b, double c, double d) {
  return rung_emu_norm(a, b, c, d);
}
RUNG_EMU_MATH double __nv_rhypot(double a, double b) { return 1 / __nv_hypot(a, b); }
RUNG_EMU_MATH double __nv_rnorm3d(double a, double b, double c) { return 1 / __nv_norm3d(a, b, c); }
RUNG_EMU_MATH double __nv_rnorm4d(double a, double b, double c, double d) {
  return 1 / __nv_norm4d(a, b, c, d);
}

// e^(x^2) erfc x for x >= 0: a Chebyshev fit in 3 / (3 + x), error below 2^-55.
RUNG_EMU_MATH double rung_emu_erfcx(double x) {
  // t, and what it has lost to rounding.
  const double sum = 3 + x, t = 3 / sum;
  const double t_low = (__builtin_fma(-t, sum, 3.0) - t * (x - (sum - 3))) / sum;
  const double factor = rung_emu::polynomial(
      2 * t - 1, 0.35800230236277989, 0.29446481772329455, 0.1967427857013695, 0.10348908730018889,
      0.03984258709565953, 0.0089424115414935383, -0.00040413887383825992, -0.0010113540003986608,
      -0.00018276991508258444, 9.2259282733655315e-5, 3.5853927500006911e-5, -1.0132730174040267e-5,
      -5.8238685841007769e-6, 1.5831303440440469e-6, 9.2260374184242688e-7, -3.3314597870270044e-7,
      -1.3725325306312531e-7, 7.8182233342080877e-8, 1.667106728097079e-8, -1.7222715872994847e-8,
      -1.1971203723870318e-9, 2.9626149638389825e-9, 3.7197079664167947e-12,
      -2.8159509281076503e-10);
  return __builtin_fma(t, factor, t_low * factor);
}
RUNG_EMU_MATH double __nv_erfcx(double x) {
  const double half = rung_emu_erfcx(__builtin_fabs(x));
  return x < 0 ? 2 * __nv_exp(x * x) - half : half;
}
// The series at 0, where 1 - erfc x has lost its digits.
RUNG_EMU_MATH double rung_emu_erf_series(double x) {
  const double z = x * x;
  const double series = rung_emu::polynomial(
      z, -1.0 / 3, 1.0 / 10, -1.0 / 42, 1.0 / 216, -1.0 / 1320, 1.0 / 9360, -1.0 / 75600,
      1.0 / 685440, -1.0 / 6894720, 1.0 / 76204800, -1.0 / 918086400, 1.0 / 11975040000.0);
  return 1.12837916709551257390 * (x + x * z * series);
}
// erfc of x + low, where low is what x as a double lacks.
RUNG_EMU_MATH double rung_emu_erfc(double x, double low) {
  const double a = __builtin_fabs(x);
  const double square = a * a;
  const double rest = __builtin_fma(a, a, -square) + 2 * x * low;
  const double half = a > 28 ? 0 : rung_emu_exp(-square, -rest) * rung_emu_erfcx(a);
  return x < 0 ? 2 - half : half;
}
RUNG_EMU_MATH double __nv_erfc(double x) {
  return __builtin_fabs(x) < 0.5 ? 1 - rung_emu_erf_series(x) : rung_emu_erfc(x, 0);
}
RUNG_EMU_MATH double __nv_erf(double x) {
  const double a = __builtin_fabs(x);
  return a < 0.5 ? rung_emu_erf_series(x) : __builtin_copysign(1 - __nv_erfc(a), x);
}
RUNG_EMU_MATH double __nv_normcdf(double x) {
  constexpr double high = -0.70710678118654752440, low = 4.8336466567264567e-17;  // -1 / sqrt 2
  const double y = x * high;
  if (!(__builtin_fabs(y) >= 0.5 && __builtin_fabs(y) < 40)) return 0.5 * __nv_erfc(y);
  return 0.5 * rung_emu_erfc(y, __builtin_fma(x, high, -y) + x * low);
}

// C. Lanczos, "A precision approximation of the gamma function", 1964, with g = 7 and 9 terms:
// gamma(x + 1) = sqrt(2 pi) (x + 7.5)^(x + 0.5) e^-(x + 7.5) times this, for x >= 0.
RUNG_EMU_MATH double rung_emu_lanczos(double x) {
  double sum = 0.99999999999980993;
  sum += 676.5203681218851 / (x + 1);
  sum += -1259.1392167224028 / (x + 2);
  sum += 771.32342877765313 / (x + 3);
  sum += -176.61502916214059 / (x + 4);
  sum += 12.507343278686905 / (x + 5);
  sum += -0.13857109526572012 / (x + 6);
  sum += 9.9843695780195716e-6 / (x + 7);
  sum += 1.5056327351493116e-7 / (x + 8);
  return sum;
}
// Gamma of x + low >= 1/2, by Stirling's series (NIST, "Digital Library of Mathematical Functions", 5.11.1),
// at x + n >= 10 where that is too close to 0.
RUNG_EMU_MATH double rung_emu_gamma(double x, double low) {
  if (x > 172) return __builtin_inf();
  double product = 1, product_low = 0, far = x, far_low = low;
  for (int n = 1; far < 10; ++n) {
    product *= far;
    product_low += far_low / far;  // relative
    far = x + n;
    far_low = x - (far - n) + low;
  }
  const double z = 1 / (far * far);
  const double series = rung_emu::polynomial(z, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680,
                                             1.0 / 1188, -691.0 / 360360, 1.0 / 156) /
                        far;
  // The exponent (x - 0.5) ln x - x needs more digits than a double has. Its derivative is about
  // ln x - 1 / 2x.
  const rung_emu::Pair log = rung_emu_log(far, 0);
  const double power = far - 0.5;
  const double high = power * log.high;
  const double rest = __builtin_fma(power, log.high, -high) + power * log.low +
                      far_low * (log.high - 0.5 / far) + series - product_low;
  const double exponent = high - far;
  const double lost = high > far ? high - exponent - far : high - (exponent + far);
  return rung_emu_exp(exponent, lost + rest) * 2.50662827463100050242 / product;
}
RUNG_EMU_MATH double rung_emu_log_gamma(double x) {
  if (x == 1 || x == 2) return 0;
  const double y = x - 1;
  return 0.91893853320467274178 + ((y + 0.5) * __nv_log(y + 7.5) - (y + 7.5)) +
         __nv_log(rung_emu_lanczos(y));
}
// Euler's reflection: gamma(x) gamma(1 - x) = pi / sin(pi x).
RUNG_EMU_MATH double __nv_tgamma(double x) {
  if (x == 0) return __builtin_copysign(__builtin_inf(), x);
  if (x < 0 && x == __builtin_floor(x)) return __builtin_nan("");
  const bool is_reflected = x < 0.5;
  const double y = is_reflected ? 1 - x : x;
  const double value = rung_emu_gamma(y, is_reflected ? 1 - y - x : 0);
  return is_reflected ? rung_emu::pi / (__nv_sinpi(x) * value) : value;
}
RUNG_EMU_MATH double __nv_lgamma(double x) {
  if (x <= 0 && x == __builtin_floor(x)) return __builtin_inf();
  const bool is_reflected = x < 0.5;
  const double value = rung_emu_log_gamma(is_reflected ? 1 - x : x);
  return is_reflected ? __nv_log(rung_emu::pi / __builtin_fabs(__nv_sinpi(x))) - value : value;
}
