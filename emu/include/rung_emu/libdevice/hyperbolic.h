#pragma once
// Hyperbolic functions and their inverses, in double precision.

RUNG_EMU_MATH double __nv_sinh(double x) {
  const double a = __builtin_fabs(x);
  double result;
  if (a < 700) {
    const double e = __nv_expm1(a);
    result = 0.5 * (e + e / (e + 1));
  } else {
    const double root = __nv_exp(0.5 * a);
    result = 0.5 * root * root;
  }
  return __builtin_copysign(result, x);
}
RUNG_EMU_MATH double __nv_cosh(double x) {
  const double a = __builtin_fabs(x);
  if (a < 700) {
    const double e = __nv_exp(a);
    return 0.5 * e + 0.5 / e;
  }
  const double root = __nv_exp(0.5 * a);
  return 0.5 * root * root;
}
RUNG_EMU_MATH double __nv_tanh(double x) {
  const double a = __builtin_fabs(x);
  if (a > 22) return __builtin_copysign(1.0, x);
  const double e = __nv_expm1(2 * a);
  return __builtin_copysign(e / (e + 2), x);
}
RUNG_EMU_MATH double __nv_asinh(double x) {
  const double a = __builtin_fabs(x);
  double result;
  if (a > 1e9) {
    result = __nv_log(a) + 0.693147180559945309417;
  } else {
    result = __nv_log1p(a + a * a / (1 + __builtin_sqrt(1 + a * a)));
  }
  return __builtin_copysign(result, x);
}
RUNG_EMU_MATH double __nv_acosh(double x) {
  if (x > 1e9) return __nv_log(x) + 0.693147180559945309417;
  if (x < 1) return __builtin_nan("");
  const double t = x - 1;
  return __nv_log1p(t + __builtin_sqrt(t * (2 + t)));
}
RUNG_EMU_MATH double __nv_atanh(double x) {
  const double a = __builtin_fabs(x);
  return __builtin_copysign(0.5 * __nv_log1p(2 * a / (1 - a)), x);
}
