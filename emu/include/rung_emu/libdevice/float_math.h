#pragma once
// Functions of single precision. The most used ones are computed in single precision, as on a GPU; the
// others in double precision, and rounded.

// v times 2 to the power n in two steps: with n up to 2 * 126, nothing overflows on the way.
RUNG_EMU_NV float rung_emu_scale(float v, int n) {
  const int half = n / 2;
  const auto power = [](int e) {
    return __builtin_bit_cast(float, static_cast<unsigned int>(e + 127) << 23);
  };
  return v * power(half) * power(n - half);
}

// 2^(n + r) with |r| <= 1/2; n beyond the range of exponents is cut to what over- or underflows.
RUNG_EMU_NV float rung_emu_exp2(float n, float r) {
  const float cut = __builtin_fminf(__builtin_fmaxf(n, -252), 252);
  return rung_emu_scale(rung_emu_ex2(r), static_cast<int>(cut));
}
RUNG_EMU_NV float __nv_exp2f(float x) {
  const float n = __builtin_rintf(__builtin_fminf(__builtin_fmaxf(x, -252), 252));
  return x != x ? x : rung_emu_exp2(n, __builtin_fabsf(x) < 252 ? x - n : 0);
}
// e^x = 2^n 2^(r / ln 2), with ln 2 in two parts.
RUNG_EMU_NV float __nv_expf(float x) {
  if (x != x) return x;
  x = __builtin_fminf(__builtin_fmaxf(x, -170), 170);
  const float n = __builtin_rintf(x * 1.44269504f);
  const float r = __builtin_fmaf(n, -1.42860677e-6f, __builtin_fmaf(n, -0.693145752f, x));
  return rung_emu_exp2(n, r * 1.44269504f);
}
RUNG_EMU_NV float __nv_exp10f(float x) {
  if (x != x) return x;
  x = __builtin_fminf(__builtin_fmaxf(x, -75), 75);
  const float n = __builtin_rintf(x * 3.32192809f);
  const float r = __builtin_fmaf(n, -4.60503907e-6f, __builtin_fmaf(n, -0.301025391f, x));
  return rung_emu_exp2(n, r * 3.32192809f);
}

RUNG_EMU_MATH bool rung_emu_logf_is_special(float x, float& result) {
  if (x > 0 && x < __builtin_inff()) return false;
  result = x == 0 ? -__builtin_inff() : x < 0 ? __builtin_nanf("") : x;
  return true;
}
// ln x = n ln 2 + 2 artanh s, s = (m - 1) / (m + 1): see double_math.h.
RUNG_EMU_MATH float __nv_logf(float x) {
  float special;
  if (rung_emu_logf_is_special(x, special)) return special;
  const bool is_small = x < 1.17549435e-38f;
  // From 1/sqrt 2 on, significands belong to the exponent above.
  constexpr int root_half = 0x3F3504F3;
  const int bits = __builtin_bit_cast(int, is_small ? x * 0x1p24f : x) - root_half;
  const float n = static_cast<float>((bits >> 23) - (is_small ? 24 : 0));
  const float f = __builtin_bit_cast(float, (bits & 0x7FFFFF) + root_half) - 1;
  const float s = f / (2 + f);
  const float z = s * s;
  const float series =
      z * rung_emu::polynomial(z, 2.0f / 3, 2.0f / 5, 2.0f / 7, 2.0f / 9, 2.0f / 11);
  // ln m = 2 s + s series = f - s (f - series): what is added to f, which is exact, is small.
  const float rest = __builtin_fmaf(n, 1.42860677e-6f, -s * (f - series));
  return __builtin_fmaf(n, 0.693145752f, f + rest);
}

// Cody and Waite with pi / 2 in three parts; what is too large for them, in double precision.
RUNG_EMU_MATH float rung_emu_reduce(float x, int& quadrant) {
  if (__builtin_fabsf(x) < 40000) {
    const float n = __builtin_rintf(x * 0.636619772f);
    quadrant = static_cast<int>(n);
    float r = __builtin_fmaf(n, -1.57079637f, x);
    r = __builtin_fmaf(n, 4.37113883e-8f, r);
    return __builtin_fmaf(n, 1.71512451e-15f, r);
  }
  const rung_emu::Reduced reduced = rung_emu::reduce(x);
  quadrant = reduced.quadrant;
  return static_cast<float>(reduced.high);
}
RUNG_EMU_MATH float rung_emu_sine(float x, int quadrant) {
  int own;
  const float r = rung_emu_reduce(x, own);
  const float z = r * r;
  const float value =
      ((own + quadrant) & 1) == 0
          ? __builtin_fmaf(r * z,
                           rung_emu::polynomial(z, -1.66666667e-1f, 8.33333333e-3f, -1.98412698e-4f,
                                                2.75573192e-6f),
                           r)
          : __builtin_fmaf(z,
                           rung_emu::polynomial(z, -0.5f, 4.16666667e-2f, -1.38888889e-3f,
                                                2.48015873e-5f, -2.75573192e-7f),
                           1.0f);
  return ((own + quadrant) & 2) == 0 ? value : -value;
}
RUNG_EMU_MATH float __nv_sinf(float x) {
  if (!(__builtin_fabsf(x) < __builtin_inff())) return x - x;
  return x == 0 ? x : rung_emu_sine(x, 0);
}
RUNG_EMU_MATH float __nv_cosf(float x) {
  if (!(__builtin_fabsf(x) < __builtin_inff())) return x - x;
  return rung_emu_sine(x, 1);
}
RUNG_EMU_MATH void __nv_sincosf(float x, float* sine, float* cosine) {
  *sine = __nv_sinf(x);
  *cosine = __nv_cosf(x);
}
RUNG_EMU_MATH float __nv_tanf(float x) { return __nv_sinf(x) / __nv_cosf(x); }

RUNG_EMU_MATH float __nv_tanhf(float x) {
  const float a = __builtin_fabsf(x);
  if (a < 0.5f) {
    const float z = x * x;
    const float p = rung_emu::polynomial(z, -3.33333333e-1f, 1.33333333e-1f, -5.39682540e-2f,
                                         2.18694885e-2f, -8.86323553e-3f, 3.59212804e-3f);
    return __builtin_fmaf(x * z, p, x);
  }
  return __builtin_copysignf(1 - 2 / (__nv_expf(2 * a) + 1), x);
}

// As in special_math.h, with fewer terms.
RUNG_EMU_MATH float __nv_erfcxf(float x) { return static_cast<float>(__nv_erfcx(x)); }
RUNG_EMU_MATH float __nv_erfcf(float x) { return static_cast<float>(__nv_erfc(x)); }
RUNG_EMU_MATH float __nv_erff(float x) {
  const float a = __builtin_fabsf(x);
  if (a < 0.5f) {
    const float z = x * x;
    const float p = rung_emu::polynomial(z, -0.376126389f, 0.112837917f, -0.0268661706f,
                                         5.22397762e-3f, -8.54832702e-4f, 1.2055333e-4f);
    return __builtin_fmaf(x * z, p, x * 1.12837917f);
  }
  if (!(a < 4)) return x != x ? x : __builtin_copysignf(1, x);
  const float t = 3 / (3 + a);
  const float scaled =
      t * rung_emu::polynomial(2 * t - 1, 0.358002302f, 0.294464815f, 0.196742784f, 0.103489165f,
                               0.0398426383f, 0.00894177984f, -0.000404554029f, -0.00100911836f,
                               -0.000181308631f, 8.83048212e-5f, 3.32973931e-5f, -6.54365064e-6f,
                               -3.56210716e-6f);
  return __builtin_copysignf(1 - __nv_expf(-a * a) * scaled, x);
}

// The others, by their double precision.
#define RUNG_EMU_BY_DOUBLE(NAME) \
  RUNG_EMU_MATH float NAME##f(float x) { return static_cast<float>(NAME(x)); }
RUNG_EMU_BY_DOUBLE(__nv_expm1)
RUNG_EMU_BY_DOUBLE(__nv_log1p)
RUNG_EMU_BY_DOUBLE(__nv_log2)
RUNG_EMU_BY_DOUBLE(__nv_log10)
RUNG_EMU_BY_DOUBLE(__nv_cbrt)
RUNG_EMU_BY_DOUBLE(__nv_rcbrt)
RUNG_EMU_BY_DOUBLE(__nv_sinpi)
RUNG_EMU_BY_DOUBLE(__nv_cospi)
RUNG_EMU_BY_DOUBLE(__nv_asin)
RUNG_EMU_BY_DOUBLE(__nv_acos)
RUNG_EMU_BY_DOUBLE(__nv_atan)
RUNG_EMU_BY_DOUBLE(__nv_sinh)
RUNG_EMU_BY_DOUBLE(__nv_cosh)
RUNG_EMU_BY_DOUBLE(__nv_asinh)
RUNG_EMU_BY_DOUBLE(__nv_acosh)
RUNG_EMU_BY_DOUBLE(__nv_atanh)
RUNG_EMU_BY_DOUBLE(__nv_normcdf)
RUNG_EMU_BY_DOUBLE(__nv_tgamma)
RUNG_EMU_BY_DOUBLE(__nv_lgamma)
#undef RUNG_EMU_BY_DOUBLE

RUNG_EMU_MATH float __nv_powf(float x, float y) { return static_cast<float>(__nv_pow(x, y)); }
RUNG_EMU_MATH float __nv_powif(float x, int n) { return static_cast<float>(__nv_pow(x, n)); }
RUNG_EMU_MATH float __nv_atan2f(float y, float x) { return static_cast<float>(__nv_atan2(y, x)); }
RUNG_EMU_MATH float __nv_hypotf(float a, float b) { return static_cast<float>(__nv_hypot(a, b)); }
RUNG_EMU_MATH float __nv_rhypotf(float a, float b) { return static_cast<float>(__nv_rhypot(a, b)); }
RUNG_EMU_MATH float __nv_norm3df(float a, float b, float c) {
  return static_cast<float>(__nv_norm3d(a, b, c));
}
RUNG_EMU_MATH float __nv_norm4df(float a, float b, float c, float d) {
  return static_cast<float>(__nv_norm4d(a, b, c, d));
}
RUNG_EMU_MATH void __nv_sincospif(float x, float* sine, float* cosine) {
  *sine = __nv_sinpif(x);
  *cosine = __nv_cospif(x);
}
