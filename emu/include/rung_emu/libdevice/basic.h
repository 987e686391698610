#pragma once
// Floating-point functions that are an instruction or a few: absolute values, rounding, roots,
// comparisons, and the parts that a number is made of.

// TYPE's functions, those of float with an f at the end of the name.
#define RUNG_EMU_BASIC(TYPE, F)                                                                \
  RUNG_EMU_NV TYPE __nv_fabs##F(TYPE a) { return __builtin_fabs##F(a); }                       \
  RUNG_EMU_NV TYPE __nv_floor##F(TYPE a) { return __builtin_floor##F(a); }                     \
  RUNG_EMU_NV TYPE __nv_ceil##F(TYPE a) { return __builtin_ceil##F(a); }                       \
  RUNG_EMU_NV TYPE __nv_trunc##F(TYPE a) { return __builtin_trunc##F(a); }                     \
  RUNG_EMU_NV TYPE __nv_rint##F(TYPE a) { return __builtin_rint##F(a); }                       \
  RUNG_EMU_NV TYPE __nv_nearbyint##F(TYPE a) { return __builtin_rint##F(a); }                  \
  RUNG_EMU_NV TYPE __nv_fma##F(TYPE a, TYPE b, TYPE c) { return __builtin_fma##F(a, b, c); }   \
  RUNG_EMU_NV TYPE __nv_fmin##F(TYPE a, TYPE b) { return __builtin_fmin##F(a, b); }            \
  RUNG_EMU_NV TYPE __nv_fmax##F(TYPE a, TYPE b) { return __builtin_fmax##F(a, b); }            \
  RUNG_EMU_NV TYPE __nv_copysign##F(TYPE a, TYPE b) { return __builtin_copysign##F(a, b); }    \
  RUNG_EMU_NV TYPE __nv_sqrt##F(TYPE a) { return __builtin_sqrt##F(a); }                       \
  RUNG_EMU_NV TYPE __nv_fdim##F(TYPE a, TYPE b) { return a <= b ? TYPE(0) : a - b; }           \
  /* Halfway cases away from zero. */                                                          \
  RUNG_EMU_NV TYPE __nv_round##F(TYPE a) {                                                     \
    const TYPE whole = __builtin_trunc##F(a);                                                  \
    const TYPE rest = __builtin_fabs##F(a - whole);                                            \
    return __builtin_copysign##F(                                                              \
        rest >= TYPE(0.5) ? __builtin_fabs##F(whole) + TYPE(1) : __builtin_fabs##F(whole), a); \
  }                                                                                            \
  RUNG_EMU_NV long long __nv_llrint##F(TYPE a) {                                               \
    return static_cast<long long>(__builtin_rint##F(a));                                       \
  }                                                                                            \
  RUNG_EMU_NV long long __nv_llround##F(TYPE a) {                                              \
    return static_cast<long long>(__nv_round##F(a));                                           \
  }                                                                                            \
  RUNG_EMU_NV TYPE __nv_modf##F(TYPE a, TYPE* whole) {                                         \
    *whole = __builtin_trunc##F(a);                                                            \
    return __builtin_copysign##F(__builtin_isinf(a) ? TYPE(0) : a - *whole, a);                \
  }
RUNG_EMU_BASIC(float, f)
RUNG_EMU_BASIC(double, )
#undef RUNG_EMU_BASIC

RUNG_EMU_NV float __nv_saturatef(float a) { return __builtin_fminf(__builtin_fmaxf(a, 0), 1); }
RUNG_EMU_NV double __nv_rsqrt(double a) { return 1 / __builtin_sqrt(a); }

RUNG_EMU_NV int __nv_isnanf(float a) { return a != a; }
RUNG_EMU_NV int __nv_isnand(double a) { return a != a; }
RUNG_EMU_NV int __nv_isinff(float a) { return __builtin_fabsf(a) == __builtin_inff(); }
RUNG_EMU_NV int __nv_isinfd(double a) { return __builtin_fabs(a) == __builtin_inf(); }
RUNG_EMU_NV int __nv_finitef(float a) { return __builtin_fabsf(a) < __builtin_inff(); }
RUNG_EMU_NV int __nv_isfinited(double a) { return __builtin_fabs(a) < __builtin_inf(); }
RUNG_EMU_NV int __nv_signbitf(float a) { return __builtin_bit_cast(unsigned int, a) >> 31 != 0; }
RUNG_EMU_NV int __nv_signbitd(double a) {
  return __builtin_bit_cast(unsigned long long, a) >> 63 != 0;
}
RUNG_EMU_NV double __nv_nan(const signed char*) { return __builtin_nan(""); }
RUNG_EMU_NV float __nv_nanf(const signed char*) { return __builtin_nanf(""); }

// 2 to the power n, for n from -1022 to 1023.
RUNG_EMU_NV double rung_emu_power_of_two(int n) {
  return __builtin_bit_cast(double, static_cast<unsigned long long>(n + 1023) << 52);
}

// a times 2 to the power n, rounded once.
RUNG_EMU_MATH double __nv_ldexp(double a, int n) {
  n = n < -2200 ? -2200 : n > 2200 ? 2200 : n;
  for (; n > 1023; n -= 1023) a *= rung_emu_power_of_two(1023);
  // Steps that leave the last one 53 bits of room above the subnormal numbers: only it rounds.
  for (; n < -1022; n += 969) a *= rung_emu_power_of_two(-969);
  return a * rung_emu_power_of_two(n);
}

// The exponent e with 2^e <= |a| < 2^(e + 1), for a that is finite and not zero.
RUNG_EMU_MATH int rung_emu_exponent(double a) {
  const unsigned long long bits = __builtin_bit_cast(unsigned long long, a) & (~0ull >> 1);
  if (bits >> 52 != 0) return static_cast<int>(bits >> 52) - 1023;
  return 63 - __builtin_clzll(bits) - 1074;
}

RUNG_EMU_MATH double __nv_frexp(double a, int* exponent) {
  if (a == 0 || !(__builtin_fabs(a) < __builtin_inf())) {
    *exponent = 0;
    return a;
  }
  *exponent = rung_emu_exponent(a) + 1;
  return __nv_ldexp(a, -*exponent);
}
RUNG_EMU_MATH double __nv_logb(double a) {
  if (a == 0) return -__builtin_inf();
  if (!(__builtin_fabs(a) < __builtin_inf())) return a * a;
  return rung_emu_exponent(a);
}
RUNG_EMU_MATH int __nv_ilogb(double a) {
  if (a == 0 || a != a) return -2147483647 - 1;
  return __builtin_fabs(a) == __builtin_inf() ? 2147483647 : rung_emu_exponent(a);
}

RUNG_EMU_MATH float __nv_ldexpf(float a, int n) { return static_cast<float>(__nv_ldexp(a, n)); }
RUNG_EMU_MATH double __nv_scalbn(double a, int n) { return __nv_ldexp(a, n); }
RUNG_EMU_MATH float __nv_scalbnf(float a, int n) { return __nv_ldexpf(a, n); }
RUNG_EMU_MATH float __nv_frexpf(float a, int* exponent) {
  return static_cast<float>(__nv_frexp(a, exponent));
}
RUNG_EMU_MATH float __nv_logbf(float a) { return static_cast<float>(__nv_logb(a)); }
RUNG_EMU_MATH int __nv_ilogbf(float a) { return __nv_ilogb(a); }

#define RUNG_EMU_NEXTAFTER(NAME, TYPE, BITS)                                                       \
  RUNG_EMU_MATH TYPE NAME(TYPE a, TYPE toward) {                                                   \
    if (a != a || toward != toward) return a + toward;                                             \
    if (a == toward) return toward;                                                                \
    if (a == 0) return __builtin_copysign(__builtin_bit_cast(TYPE, static_cast<BITS>(1)), toward); \
    const BITS step = (a < toward) == (a > 0) ? static_cast<BITS>(1) : static_cast<BITS>(-1);      \
    return __builtin_bit_cast(TYPE, static_cast<BITS>(__builtin_bit_cast(BITS, a) + step));        \
  }
RUNG_EMU_NEXTAFTER(__nv_nextafterf, float, unsigned int)
RUNG_EMU_NEXTAFTER(__nv_nextafter, double, unsigned long long)
#undef RUNG_EMU_NEXTAFTER

// Long division of the significands: exact, whatever the quotient. Its last bits, rounded toward
// zero, go to `quotient`.
RUNG_EMU_MATH double rung_emu_remainder(double a, double b, unsigned int& quotient) {
  quotient = 0;
  if (!(__builtin_fabs(a) < __builtin_inf()) || !(b == b) || b == 0) return __builtin_nan("");
  double rest = __builtin_fabs(a);
  const double divisor = __builtin_fabs(b);
  if (divisor == __builtin_inf() || rest < divisor) return a;
  for (int n = rung_emu_exponent(rest) - rung_emu_exponent(divisor); n >= 0; --n) {
    const double part = __nv_ldexp(divisor, n);
    quotient <<= 1;
    if (rest >= part) {
      rest -= part;
      quotient |= 1;
    }
  }
  return __builtin_copysign(rest, a);
}
RUNG_EMU_MATH double __nv_fmod(double a, double b) {
  unsigned int quotient;
  return rung_emu_remainder(a, b, quotient);
}
RUNG_EMU_MATH double __nv_remquo(double a, double b, int* quotient) {
  unsigned int bits;
  double rest = rung_emu_remainder(a, b, bits);
  const double magnitude = __builtin_fabs(rest);
  const double divisor = __builtin_fabs(b);
  const double other = divisor - magnitude;  // exact
  if (other < magnitude || (other == magnitude && (bits & 1) != 0)) {
    rest = __builtin_copysign(other, -a);
    ++bits;
  }
  const int low = static_cast<int>(bits & 0x7FFFFFF);
  *quotient = (a < 0) != (b < 0) ? -low : low;
  return rest;
}
RUNG_EMU_MATH double __nv_remainder(double a, double b) {
  int quotient;
  return __nv_remquo(a, b, &quotient);
}
RUNG_EMU_MATH float __nv_fmodf(float a, float b) { return static_cast<float>(__nv_fmod(a, b)); }
RUNG_EMU_MATH float __nv_remainderf(float a, float b) {
  return static_cast<float>(__nv_remainder(a, b));
}
RUNG_EMU_MATH float __nv_remquof(float a, float b, int* quotient) {
  return static_cast<float>(__nv_remquo(a, b, quotient));
}
