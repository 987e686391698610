#pragma once
// __nv_bfloat16 and __nv_bfloat162: the upper half of a float (CUDA Math API, "Bfloat16 Precision
// Intrinsics").

/* As in the header of the vendor: programs ask for it. */
#define __CUDA_BF16_H__

#include "cuda_runtime.h"
#include "rung_emu/small_float.h"
#include "rung_emu/small_float_conversions.h"
#include "rung_emu/small_float_variants.h"

#ifdef __clang__
// Functions that clang calls to round on the host, for libraries that lack them (libgcc before 13).
extern "C" {
__attribute__((weak)) __bf16 __truncsfbf2(float value) {
  const unsigned int bits = __builtin_bit_cast(unsigned int, value);
  const unsigned int rounded = bits + 0x7FFFu + (bits >> 16 & 1u);
  const unsigned int upper = (value != value ? bits | 0x400000u : rounded) >> 16;
  return __builtin_bit_cast(__bf16, static_cast<unsigned short>(upper));
}
// By way of a float rounded to odd, whose last bit stands for all that was cut off (S. Boldo and
// G. Melquiond, "Emulation of a FMA and Correctly Rounded Sums", 2008).
__attribute__((weak)) __bf16 __truncdfbf2(double value) {
  const float nearest = static_cast<float>(value);
  unsigned int bits = __builtin_bit_cast(unsigned int, nearest);
  const bool finite = nearest - nearest == 0;
  if (finite && static_cast<double>(nearest) != value) {
    if (__builtin_fabs(static_cast<double>(nearest)) > __builtin_fabs(value)) --bits;
    bits |= 1u;
  }
  return __truncsfbf2(__builtin_bit_cast(float, bits));
}
}

RUNG_EMU_SMALL_FLOAT(__nv_bfloat16, __bf16)
#else
#include "rung_emu/host_small_floats.h"
RUNG_EMU_SMALL_FLOAT(__nv_bfloat16, rung_emu::HostBfloat16)
#endif

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

RUNG_EMU_HD float __bfloat162float(__nv_bfloat16 a) { return a; }
RUNG_EMU_HD __nv_bfloat16 __float2bfloat16(float a) { return __nv_bfloat16(a); }
RUNG_EMU_HD __nv_bfloat16 __float2bfloat16_rn(float a) { return __nv_bfloat16(a); }
RUNG_EMU_HD __nv_bfloat16 __double2bfloat16(double a) { return __nv_bfloat16(a); }
RUNG_EMU_HD unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) {
  return __builtin_bit_cast(unsigned short, a);
}
RUNG_EMU_HD __nv_bfloat16 __ushort_as_bfloat16(unsigned short a) {
  return __builtin_bit_cast(__nv_bfloat16, a);
}

RUNG_EMU_HD short __bfloat16_as_short(__nv_bfloat16 a) { return __builtin_bit_cast(short, a); }
RUNG_EMU_HD __nv_bfloat16 __short_as_bfloat16(short a) {
  return __builtin_bit_cast(__nv_bfloat16, a);
}
RUNG_EMU_SMALL_FLOAT_CONVERSIONS(__nv_bfloat16, bfloat16)
RUNG_EMU_SMALL_FLOAT_VARIANTS(__nv_bfloat16)

RUNG_EMU_HD __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __nv_bfloat162{a, b};
}
RUNG_EMU_HD __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __nv_bfloat162{a, b};
}
RUNG_EMU_HD __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return __nv_bfloat162{a, a}; }
RUNG_EMU_HD __nv_bfloat162 __float2bfloat162_rn(float a) {
  return __nv_bfloat162{__nv_bfloat16(a), __nv_bfloat16(a)};
}
RUNG_EMU_HD __nv_bfloat162 __floats2bfloat162_rn(float a, float b) {
  return __nv_bfloat162{__nv_bfloat16(a), __nv_bfloat16(b)};
}
RUNG_EMU_HD __nv_bfloat162 __float22bfloat162_rn(float2 a) {
  return __floats2bfloat162_rn(a.x, a.y);
}
RUNG_EMU_HD float2 __bfloat1622float2(__nv_bfloat162 a) { return float2{a.x, a.y}; }
RUNG_EMU_HD float __low2float(__nv_bfloat162 a) { return a.x; }
RUNG_EMU_HD float __high2float(__nv_bfloat162 a) { return a.y; }
RUNG_EMU_HD __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
RUNG_EMU_HD __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }

RUNG_EMU_HD __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
  return __nv_bfloat16(__builtin_fmaf(a, b, c));
}
RUNG_EMU_HD __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
  return __nv_bfloat162{__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
RUNG_EMU_SMALL_FLOAT_FMA_VARIANTS(__nv_bfloat16)

RUNG_EMU_HD __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162{a.x, a.x}; }
RUNG_EMU_HD __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162{a.y, a.y}; }
RUNG_EMU_HD __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 a) { return __nv_bfloat162{a.y, a.x}; }
RUNG_EMU_HD __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) {
  return __nv_bfloat162{a.x, b.x};
}
RUNG_EMU_HD __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) {
  return __nv_bfloat162{a.y, b.y};
}

// By compare-and-swap of the word around it; two at once by one such swap.
#ifdef __CUDA__
static __device__ __forceinline__ __nv_bfloat162 atomicAdd(__nv_bfloat162* to,
                                                           __nv_bfloat162 value) {
  unsigned int* const word = reinterpret_cast<unsigned int*>(to);
  unsigned int old = *static_cast<volatile unsigned int*>(word), expected;
  do {
    expected = old;
    const __nv_bfloat162 sum = __builtin_bit_cast(__nv_bfloat162, expected) + value;
    old = atomicCAS(word, expected, __builtin_bit_cast(unsigned int, sum));
  } while (old != expected);
  return __builtin_bit_cast(__nv_bfloat162, old);
}
static __device__ __forceinline__ __nv_bfloat16 atomicAdd(__nv_bfloat16* to, __nv_bfloat16 value) {
  unsigned short* const word = reinterpret_cast<unsigned short*>(to);
  unsigned short old = *static_cast<volatile unsigned short*>(word), expected;
  do {
    expected = old;
    const __nv_bfloat16 sum = __ushort_as_bfloat16(expected) + value;
    old = atomicCAS(word, expected, __bfloat16_as_ushort(sum));
  } while (old != expected);
  return __ushort_as_bfloat16(old);
}
#endif

#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7F80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7FFF)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7F7F)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3F80)
