#pragma once
// __half and __half2: IEEE 754 binary16 (CUDA Math API, "Half Precision Intrinsics").

/* As in the header of the vendor: programs ask for it. */
#define __CUDA_FP16_H__

#include "cuda_runtime.h"
#include "rung_emu/small_float.h"
#include "rung_emu/small_float_conversions.h"
#include "rung_emu/small_float_variants.h"

#ifdef __clang__
RUNG_EMU_SMALL_FLOAT(__half, _Float16)
#else
#include "rung_emu/host_small_floats.h"
RUNG_EMU_SMALL_FLOAT(__half, rung_emu::HostHalf)
#endif

typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;

RUNG_EMU_HD float __half2float(__half a) { return a; }
RUNG_EMU_HD __half __float2half(float a) { return __half(a); }
RUNG_EMU_HD __half __float2half_rn(float a) { return __half(a); }
RUNG_EMU_HD __half __double2half(double a) { return __half(a); }
RUNG_EMU_HD unsigned short __half_as_ushort(__half a) {
  return __builtin_bit_cast(unsigned short, a);
}
RUNG_EMU_HD short __half_as_short(__half a) { return __builtin_bit_cast(short, a); }
RUNG_EMU_HD __half __ushort_as_half(unsigned short a) { return __builtin_bit_cast(__half, a); }
RUNG_EMU_HD __half __short_as_half(short a) { return __builtin_bit_cast(__half, a); }

RUNG_EMU_SMALL_FLOAT_CONVERSIONS(__half, half)
RUNG_EMU_SMALL_FLOAT_VARIANTS(__half)

RUNG_EMU_HD __half2 make_half2(__half a, __half b) { return __half2{a, b}; }
RUNG_EMU_HD __half2 __halves2half2(__half a, __half b) { return __half2{a, b}; }
RUNG_EMU_HD __half2 __half2half2(__half a) { return __half2{a, a}; }
RUNG_EMU_HD __half2 __float2half2_rn(float a) { return __half2{__half(a), __half(a)}; }
RUNG_EMU_HD __half2 __floats2half2_rn(float a, float b) { return __half2{__half(a), __half(b)}; }
RUNG_EMU_HD __half2 __float22half2_rn(float2 a) { return __half2{__half(a.x), __half(a.y)}; }
RUNG_EMU_HD float2 __half22float2(__half2 a) { return float2{a.x, a.y}; }
RUNG_EMU_HD float __low2float(__half2 a) { return a.x; }
RUNG_EMU_HD float __high2float(__half2 a) { return a.y; }
RUNG_EMU_HD __half __low2half(__half2 a) { return a.x; }
RUNG_EMU_HD __half __high2half(__half2 a) { return a.y; }
RUNG_EMU_HD __half2 __low2half2(__half2 a) { return __half2{a.x, a.x}; }
RUNG_EMU_HD __half2 __high2half2(__half2 a) { return __half2{a.y, a.y}; }
RUNG_EMU_HD __half2 __lowhigh2highlow(__half2 a) { return __half2{a.y, a.x}; }
RUNG_EMU_HD __half2 __lows2half2(__half2 a, __half2 b) { return __half2{a.x, b.x}; }
RUNG_EMU_HD __half2 __highs2half2(__half2 a, __half2 b) { return __half2{a.y, b.y}; }

#ifdef __clang__
RUNG_EMU_HD __half __hfma(__half a, __half b, __half c) {
  return __half(__builtin_fmaf16(a.value, b.value, c.value));
}
// One instruction for two on the device, which clang writes for vectors.
RUNG_EMU_HD __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
  typedef _Float16 Vector __attribute__((ext_vector_type(2)));
  return __builtin_bit_cast(__half2, __builtin_elementwise_fma(__builtin_bit_cast(Vector, a),
                                                               __builtin_bit_cast(Vector, b),
                                                               __builtin_bit_cast(Vector, c)));
}
#else
RUNG_EMU_HD __half __hfma(__half a, __half b, __half c) {
  return __half(
      __builtin_fma(static_cast<double>(a), static_cast<double>(b), static_cast<double>(c)));
}
RUNG_EMU_HD __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
  return __half2{__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
#endif

RUNG_EMU_SMALL_FLOAT_FMA_VARIANTS(__half)

#ifdef __CUDA__
static __device__ __forceinline__ __half atomicAdd(__half* to, __half value) {
  unsigned short old;
  asm volatile("atom.add.noftz.f16 %0, [%1], %2;"
               : "=h"(old)
               : "l"(to), "h"(__half_as_ushort(value))
               : "memory");
  return __ushort_as_half(old);
}
static __device__ __forceinline__ __half2 atomicAdd(__half2* to, __half2 value) {
  unsigned int old;
  asm volatile("atom.add.noftz.f16x2 %0, [%1], %2;"
               : "=r"(old)
               : "l"(to), "r"(__builtin_bit_cast(unsigned int, value))
               : "memory");
  return __builtin_bit_cast(__half2, old);
}
#endif

#define CUDART_INF_FP16 __ushort_as_half(0x7C00)
#define CUDART_NAN_FP16 __ushort_as_half(0x7FFF)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7BFF)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000)
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000)
#define CUDART_ONE_FP16 __ushort_as_half(0x3C00)
