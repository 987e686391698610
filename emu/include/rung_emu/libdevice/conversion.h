#pragma once
// Conversions with the rounding that their names say (PTX ISA 9.7.9, "cvt").

// __nv_FROM2TO_MODE, by the instruction cvt.PTX_MODE.PTX_TO.PTX_FROM.
#define RUNG_EMU_CONVERT(FROM, FROM_TYPE, FROM_REG, FROM_PTX, TO, TO_TYPE, TO_REG, TO_PTX, MODE, \
                         PTX_MODE)                                                               \
  RUNG_EMU_NV TO_TYPE __nv_##FROM##2##TO##_##MODE(FROM_TYPE a) {                                 \
    TO_TYPE result;                                                                              \
    asm("cvt." PTX_MODE "." TO_PTX "." FROM_PTX " %0, %1;" : "=" TO_REG(result) : FROM_REG(a));  \
    return result;                                                                               \
  }

// From a floating-point type to an integer: rni, rzi, rpi, rmi.
#define RUNG_EMU_TO_INTEGER(...)           \
  RUNG_EMU_CONVERT(__VA_ARGS__, rn, "rni") \
  RUNG_EMU_CONVERT(__VA_ARGS__, rz, "rzi") \
  RUNG_EMU_CONVERT(__VA_ARGS__, ru, "rpi") \
  RUNG_EMU_CONVERT(__VA_ARGS__, rd, "rmi")
RUNG_EMU_TO_INTEGER(float, float, "f", "f32", int, int, "r", "s32")
RUNG_EMU_TO_INTEGER(float, float, "f", "f32", uint, unsigned int, "r", "u32")
RUNG_EMU_TO_INTEGER(float, float, "f", "f32", ll, long long, "l", "s64")
RUNG_EMU_TO_INTEGER(float, float, "f", "f32", ull, unsigned long long, "l", "u64")
RUNG_EMU_TO_INTEGER(double, double, "d", "f64", int, int, "r", "s32")
RUNG_EMU_TO_INTEGER(double, double, "d", "f64", uint, unsigned int, "r", "u32")
RUNG_EMU_TO_INTEGER(double, double, "d", "f64", ll, long long, "l", "s64")
RUNG_EMU_TO_INTEGER(double, double, "d", "f64", ull, unsigned long long, "l", "u64")
#undef RUNG_EMU_TO_INTEGER

// To a floating-point type: rn, rz, rp, rm.
#define RUNG_EMU_TO_FLOAT(...)            \
  RUNG_EMU_CONVERT(__VA_ARGS__, rn, "rn") \
  RUNG_EMU_CONVERT(__VA_ARGS__, rz, "rz") \
  RUNG_EMU_CONVERT(__VA_ARGS__, ru, "rp") \
  RUNG_EMU_CONVERT(__VA_ARGS__, rd, "rm")
RUNG_EMU_TO_FLOAT(double, double, "d", "f64", float, float, "f", "f32")
RUNG_EMU_TO_FLOAT(int, int, "r", "s32", float, float, "f", "f32")
RUNG_EMU_TO_FLOAT(uint, unsigned int, "r", "u32", float, float, "f", "f32")
RUNG_EMU_TO_FLOAT(ll, long long, "l", "s64", float, float, "f", "f32")
RUNG_EMU_TO_FLOAT(ull, unsigned long long, "l", "u64", float, float, "f", "f32")
RUNG_EMU_TO_FLOAT(ll, long long, "l", "s64", double, double, "d", "f64")
RUNG_EMU_TO_FLOAT(ull, unsigned long long, "l", "u64", double, double, "d", "f64")
RUNG_EMU_CONVERT(int, int, "r", "s32", double, double, "d", "f64", rn, "rn")
RUNG_EMU_CONVERT(uint, unsigned int, "r", "u32", double, double, "d", "f64", rn, "rn")
#undef RUNG_EMU_TO_FLOAT
#undef RUNG_EMU_CONVERT

RUNG_EMU_NV unsigned short __nv_float2half_rn(float a) {
  unsigned short result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result) : "f"(a));
  return result;
}
RUNG_EMU_NV float __nv_half2float(unsigned short a) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(a));
  return result;
}

// The same bits under another type.
#define RUNG_EMU_BITS(NAME, FROM_TYPE, TO_TYPE) \
  RUNG_EMU_NV TO_TYPE NAME(FROM_TYPE a) { return __builtin_bit_cast(TO_TYPE, a); }
RUNG_EMU_BITS(__nv_float_as_int, float, int)
RUNG_EMU_BITS(__nv_float_as_uint, float, unsigned int)
RUNG_EMU_BITS(__nv_int_as_float, int, float)
RUNG_EMU_BITS(__nv_uint_as_float, unsigned int, float)
RUNG_EMU_BITS(__nv_double_as_longlong, double, unsigned long long)
RUNG_EMU_BITS(__nv_longlong_as_double, long long, double)
#undef RUNG_EMU_BITS

RUNG_EMU_NV int __nv_double2hiint(double a) {
  return static_cast<int>(__nv_double_as_longlong(a) >> 32);
}
RUNG_EMU_NV int __nv_double2loint(double a) { return static_cast<int>(__nv_double_as_longlong(a)); }
RUNG_EMU_NV double __nv_hiloint2double(int high, int low) {
  return __nv_longlong_as_double((static_cast<long long>(high) << 32) |
                                 static_cast<unsigned int>(low));
}
