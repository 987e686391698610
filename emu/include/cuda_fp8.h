#pragma once
// __nv_fp8_e4m3, __nv_fp8_e5m2 and __nv_fp8_e8m0: numbers of 8 bits, alone, in pairs and in fours (CUDA Math API,
// "FP8 Intrinsics"). E4M3 has no infinity, and its largest number is 448; E5M2 is a half cut short; E8M0 is a power of 2.

/* As in the header of the vendor: programs ask for it. */
#define __CUDA_FP8_H__

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "rung_emu/round_mode.h"
#include "rung_emu/small_float_bits.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

namespace rung_emu {

RUNG_EMU_HD double fp8_to_double(unsigned int bits, __nv_fp8_interpretation_t kind) {
  const unsigned int magnitude = bits & 0x7Fu;
  double value;
  if (kind == __NV_E4M3) {
    value = magnitude == 0x7Fu ? __builtin_nan("") : decode_small(magnitude, 3, 7);
  } else {
    value = magnitude < 0x7Cu ? decode_small(magnitude, 2, 15)
                              : (magnitude == 0x7Cu ? __builtin_inf() : __builtin_nan(""));
  }
  return (bits & 0x80u) != 0 ? -value : value;
}

}  // namespace rung_emu

RUNG_EMU_HD __nv_fp8_storage_t __nv_cvt_double_to_fp8(double value, __nv_saturation_t saturation,
                                                      __nv_fp8_interpretation_t kind) {
  const bool is_e4m3 = kind == __NV_E4M3;
  if (value != value) return 0x7F;
  const unsigned int sign =
      static_cast<unsigned int>(__builtin_bit_cast(unsigned long long, value) >> 56) & 0x80u;
  const double magnitude = __builtin_fabs(value);
  const unsigned int largest = is_e4m3 ? 0x7E : 0x7B;
  unsigned int bits = largest + 1;
  if (magnitude < 1e6) bits = rung_emu::encode_small(magnitude, is_e4m3 ? 3 : 2, is_e4m3 ? 7 : 15);
  // A value that is too large becomes the largest number, or E4M3's NaN and E5M2's infinity.
  if (bits > largest) bits = saturation == __NV_SATFINITE ? largest : largest + 1;
  return static_cast<__nv_fp8_storage_t>(sign | bits);
}
RUNG_EMU_HD __nv_fp8_storage_t __nv_cvt_float_to_fp8(float value, __nv_saturation_t saturation,
                                                     __nv_fp8_interpretation_t kind) {
  return __nv_cvt_double_to_fp8(static_cast<double>(value), saturation, kind);
}
RUNG_EMU_HD __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw value,
                                                       __nv_saturation_t saturation,
                                                       __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(__half2float(__half(value)), saturation, kind);
}
RUNG_EMU_HD __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw value,
                                                           __nv_saturation_t saturation,
                                                           __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(__bfloat162float(__nv_bfloat16(value)), saturation, kind);
}
RUNG_EMU_HD __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t bits,
                                               __nv_fp8_interpretation_t kind) {
  const float value = static_cast<float>(rung_emu::fp8_to_double(bits, kind));
  if (value != value) return __half_raw{0x7FFF};
  return __half(value);
}

// Pairs: the first number is in the lower byte.
#define RUNG_EMU_FP8_PAIR(FROM, TYPE, FIRST, SECOND)                                          \
  RUNG_EMU_HD __nv_fp8x2_storage_t __nv_cvt_##FROM##2_to_fp8x2(                               \
      TYPE value, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind) {             \
    return static_cast<__nv_fp8x2_storage_t>(FIRST | static_cast<unsigned int>(SECOND) << 8); \
  }
RUNG_EMU_FP8_PAIR(float, float2, __nv_cvt_float_to_fp8(value.x, saturation, kind),
                  __nv_cvt_float_to_fp8(value.y, saturation, kind))
RUNG_EMU_FP8_PAIR(double, double2, __nv_cvt_double_to_fp8(value.x, saturation, kind),
                  __nv_cvt_double_to_fp8(value.y, saturation, kind))
#undef RUNG_EMU_FP8_PAIR
RUNG_EMU_HD __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw value,
                                                            __nv_saturation_t saturation,
                                                            __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float2_to_fp8x2(__half22float2(__half2(value)), saturation, kind);
}
RUNG_EMU_HD __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw value,
                                                                __nv_saturation_t saturation,
                                                                __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float2_to_fp8x2(__bfloat1622float2(__nv_bfloat162(value)), saturation, kind);
}
RUNG_EMU_HD __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t bits,
                                                   __nv_fp8_interpretation_t kind) {
  return {__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(bits & 0xFF), kind).x,
          __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(bits >> 8), kind).x};
}

// The classes. Constructors from numbers saturate.
#define RUNG_EMU_FP8(T, PAIR, FOUR, KIND)                                                       \
  struct T {                                                                                    \
    __nv_fp8_storage_t __x;                                                                     \
    T() = default;                                                                              \
    __host__ __device__ explicit T(double v)                                                    \
        : __x(__nv_cvt_double_to_fp8(v, __NV_SATFINITE, KIND)) {}                               \
    __host__ __device__ explicit T(float v)                                                     \
        : __x(__nv_cvt_float_to_fp8(v, __NV_SATFINITE, KIND)) {}                                \
    __host__ __device__ explicit T(__half v)                                                    \
        : __x(__nv_cvt_halfraw_to_fp8(v, __NV_SATFINITE, KIND)) {}                              \
    __host__ __device__ explicit T(__nv_bfloat16 v)                                             \
        : __x(__nv_cvt_bfloat16raw_to_fp8(v, __NV_SATFINITE, KIND)) {}                          \
    __host__ __device__ explicit T(int v) : T(static_cast<double>(v)) {}                        \
    __host__ __device__ explicit T(unsigned int v) : T(static_cast<double>(v)) {}               \
    __host__ __device__ explicit T(long v) : T(static_cast<double>(v)) {}                       \
    __host__ __device__ explicit T(unsigned long v) : T(static_cast<double>(v)) {}              \
    __host__ __device__ explicit operator float() const {                                       \
      return static_cast<float>(rung_emu::fp8_to_double(__x, KIND));                            \
    }                                                                                           \
    __host__ __device__ explicit operator double() const {                                      \
      return rung_emu::fp8_to_double(__x, KIND);                                                \
    }                                                                                           \
    __host__ __device__ explicit operator __half() const {                                      \
      return __half(__nv_cvt_fp8_to_halfraw(__x, KIND));                                        \
    }                                                                                           \
    __host__ __device__ explicit operator __nv_bfloat16() const {                               \
      return __nv_bfloat16(static_cast<float>(*this));                                          \
    }                                                                                           \
    __host__ __device__ explicit operator bool() const { return (__x & 0x7F) != 0; }            \
  };                                                                                            \
  struct __align__(2) PAIR {                                                                    \
    __nv_fp8x2_storage_t __x;                                                                   \
    PAIR() = default;                                                                           \
    __host__ __device__ explicit PAIR(float2 v)                                                 \
        : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, KIND)) {}                             \
    __host__ __device__ explicit PAIR(double2 v)                                                \
        : __x(__nv_cvt_double2_to_fp8x2(v, __NV_SATFINITE, KIND)) {}                            \
    __host__ __device__ explicit PAIR(__half2 v)                                                \
        : __x(__nv_cvt_halfraw2_to_fp8x2(v, __NV_SATFINITE, KIND)) {}                           \
    __host__ __device__ explicit PAIR(__nv_bfloat162 v)                                         \
        : __x(__nv_cvt_bfloat16raw2_to_fp8x2(v, __NV_SATFINITE, KIND)) {}                       \
    __host__ __device__ explicit operator __half2() const {                                     \
      return __half2(__nv_cvt_fp8x2_to_halfraw2(__x, KIND));                                    \
    }                                                                                           \
    __host__ __device__ explicit operator float2() const {                                      \
      return __half22float2(static_cast<__half2>(*this));                                       \
    }                                                                                           \
  };                                                                                            \
  struct __align__(4) FOUR {                                                                    \
    __nv_fp8x4_storage_t __x;                                                                   \
    FOUR() = default;                                                                           \
    __host__ __device__ explicit FOUR(float4 v)                                                 \
        : __x(__nv_cvt_float2_to_fp8x2(float2{v.x, v.y}, __NV_SATFINITE, KIND) |                \
              static_cast<unsigned int>(                                                        \
                  __nv_cvt_float2_to_fp8x2(float2{v.z, v.w}, __NV_SATFINITE, KIND))             \
                  << 16) {}                                                                     \
    __host__ __device__ explicit FOUR(__half2 low, __half2 high)                                \
        : __x(__nv_cvt_halfraw2_to_fp8x2(low, __NV_SATFINITE, KIND) |                           \
              static_cast<unsigned int>(__nv_cvt_halfraw2_to_fp8x2(high, __NV_SATFINITE, KIND)) \
                  << 16) {}                                                                     \
    __host__ __device__ explicit FOUR(__nv_bfloat162 low, __nv_bfloat162 high)                  \
        : __x(__nv_cvt_bfloat16raw2_to_fp8x2(low, __NV_SATFINITE, KIND) |                       \
              static_cast<unsigned int>(                                                        \
                  __nv_cvt_bfloat16raw2_to_fp8x2(high, __NV_SATFINITE, KIND))                   \
                  << 16) {}                                                                     \
    __host__ __device__ explicit FOUR(double4 v)                                                \
        : __x(__nv_cvt_double2_to_fp8x2(double2{v.x, v.y}, __NV_SATFINITE, KIND) |              \
              static_cast<unsigned int>(                                                        \
                  __nv_cvt_double2_to_fp8x2(double2{v.z, v.w}, __NV_SATFINITE, KIND))           \
                  << 16) {}                                                                     \
    __host__ __device__ explicit operator float4() const {                                      \
      const auto at = [](unsigned int bits) {                                                   \
        return static_cast<float>(rung_emu::fp8_to_double(bits & 0xFF, KIND));                  \
      };                                                                                        \
      return float4{at(__x), at(__x >> 8), at(__x >> 16), at(__x >> 24)};                       \
    }                                                                                           \
  };
RUNG_EMU_FP8(__nv_fp8_e4m3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3, __NV_E4M3)
RUNG_EMU_FP8(__nv_fp8_e5m2, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2, __NV_E5M2)
#undef RUNG_EMU_FP8

// E8M0: 2^(bits - 127), or NaN (0xFF). Conversions drop the sign, and round toward zero or up.
RUNG_EMU_HD __nv_fp8_storage_t __nv_cvt_double_to_e8m0(double value, __nv_saturation_t saturation,
                                                       cudaRoundMode mode) {
  constexpr unsigned int nan = 0xFF, largest = 0xFE;
  if (value != value) return nan;
  const unsigned long long bits = __builtin_bit_cast(unsigned long long, value) << 1 >> 1;
  constexpr int bias = 1023 - 127, fraction = 52;
  const int exponent = static_cast<int>(bits >> fraction) - bias;
  const bool is_between = (bits & ((1ull << fraction) - 1)) != 0;
  const int found = exponent + (mode == cudaRoundPosInf && is_between ? 1 : 0);
  if (found > static_cast<int>(largest)) {
    return static_cast<__nv_fp8_storage_t>(saturation == __NV_SATFINITE ? largest : nan);
  }
  return static_cast<__nv_fp8_storage_t>(found < 0 ? 0 : found);
}
RUNG_EMU_HD __nv_fp8_storage_t __nv_cvt_float_to_e8m0(float value, __nv_saturation_t saturation,
                                                      cudaRoundMode mode) {
  return __nv_cvt_double_to_e8m0(static_cast<double>(value), saturation, mode);
}
RUNG_EMU_HD __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_e8m0(__nv_bfloat16_raw value,
                                                            __nv_saturation_t saturation,
                                                            cudaRoundMode mode) {
  return __nv_cvt_float_to_e8m0(__bfloat162float(__nv_bfloat16(value)), saturation, mode);
}
RUNG_EMU_HD __nv_fp8x2_storage_t __nv_cvt_double2_to_e8m0x2(double2 value,
                                                            __nv_saturation_t saturation,
                                                            cudaRoundMode mode) {
  const unsigned int high = __nv_cvt_double_to_e8m0(value.y, saturation, mode);
  return static_cast<__nv_fp8x2_storage_t>(__nv_cvt_double_to_e8m0(value.x, saturation, mode) |
                                           high << 8);
}
RUNG_EMU_HD __nv_fp8x2_storage_t __nv_cvt_float2_to_e8m0x2(float2 value,
                                                           __nv_saturation_t saturation,
                                                           cudaRoundMode mode) {
  return __nv_cvt_double2_to_e8m0x2(double2{value.x, value.y}, saturation, mode);
}
RUNG_EMU_HD __nv_fp8x2_storage_t __nv_cvt_bfloat162raw_to_e8m0x2(__nv_bfloat162_raw value,
                                                                 __nv_saturation_t saturation,
                                                                 cudaRoundMode mode) {
  return __nv_cvt_float2_to_e8m0x2(__bfloat1622float2(__nv_bfloat162(value)), saturation, mode);
}
RUNG_EMU_HD __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t bits) {
  constexpr int fraction = 7;
  const unsigned int half_of_least = 0x40, nan = 0x7FFF;  // 2^-127 is subnormal
  const unsigned int found = bits == 0xFF ? nan : bits == 0 ? half_of_least : bits << fraction;
  return __nv_bfloat16_raw{static_cast<unsigned short>(found)};
}
RUNG_EMU_HD __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(__nv_fp8x2_storage_t bits) {
  return {__nv_cvt_e8m0_to_bf16raw(static_cast<__nv_fp8_storage_t>(bits & 0xFF)).x,
          __nv_cvt_e8m0_to_bf16raw(static_cast<__nv_fp8_storage_t>(bits >> 8)).x};
}

struct __nv_fp8_e8m0 {
  __nv_fp8_storage_t __x;
  __nv_fp8_e8m0() = default;
  template <class T, class = decltype(static_cast<double>(T()))>
  __host__ __device__ explicit __nv_fp8_e8m0(T v) : __nv_fp8_e8m0(static_cast<double>(v)) {}
  __host__ __device__ explicit __nv_fp8_e8m0(double v)
      : __x(__nv_cvt_double_to_e8m0(v, __NV_SATFINITE, cudaRoundPosInf)) {}
  __host__ __device__ explicit __nv_fp8_e8m0(__half v) : __nv_fp8_e8m0(__half2float(v)) {}
  __host__ __device__ explicit __nv_fp8_e8m0(__nv_bfloat16 v)
      : __nv_fp8_e8m0(__bfloat162float(v)) {}
  __host__ __device__ explicit operator __nv_bfloat16() const {
    return __nv_bfloat16(__nv_cvt_e8m0_to_bf16raw(__x));
  }
  __host__ __device__ explicit operator float() const {
    return __bfloat162float(static_cast<__nv_bfloat16>(*this));
  }
  __host__ __device__ explicit operator double() const { return static_cast<float>(*this); }
  __host__ __device__ explicit operator __half() const {
    return __float2half(static_cast<float>(*this));
  }
  __host__ __device__ explicit operator bool() const { return true; }
};
struct __align__(2) __nv_fp8x2_e8m0 {
  __nv_fp8x2_storage_t __x;
  __nv_fp8x2_e8m0() = default;
  __host__ __device__ explicit __nv_fp8x2_e8m0(double2 v)
      : __x(__nv_cvt_double2_to_e8m0x2(v, __NV_SATFINITE, cudaRoundPosInf)) {}
  __host__ __device__ explicit __nv_fp8x2_e8m0(float2 v)
      : __x(__nv_cvt_float2_to_e8m0x2(v, __NV_SATFINITE, cudaRoundPosInf)) {}
  __host__ __device__ explicit __nv_fp8x2_e8m0(__half2 v) : __nv_fp8x2_e8m0(__half22float2(v)) {}
  __host__ __device__ explicit __nv_fp8x2_e8m0(__nv_bfloat162 v)
      : __nv_fp8x2_e8m0(__bfloat1622float2(v)) {}
  __host__ __device__ explicit operator __nv_bfloat162() const {
    return __nv_bfloat162(__nv_cvt_e8m0x2_to_bf162raw(__x));
  }
  __host__ __device__ explicit operator float2() const {
    return __bfloat1622float2(static_cast<__nv_bfloat162>(*this));
  }
};
struct __align__(4) __nv_fp8x4_e8m0 {
  __nv_fp8x4_storage_t __x;
  __nv_fp8x4_e8m0() = default;
  __host__ __device__ explicit __nv_fp8x4_e8m0(double4 v)
      : __nv_fp8x4_e8m0(__nv_fp8x2_e8m0(double2{v.x, v.y}), __nv_fp8x2_e8m0(double2{v.z, v.w})) {}
  __host__ __device__ explicit __nv_fp8x4_e8m0(float4 v)
      : __nv_fp8x4_e8m0(double4{v.x, v.y, v.z, v.w}) {}
  __host__ __device__ __nv_fp8x4_e8m0(__half2 low, __half2 high)
      : __nv_fp8x4_e8m0(__nv_fp8x2_e8m0(low), __nv_fp8x2_e8m0(high)) {}
  __host__ __device__ __nv_fp8x4_e8m0(__nv_bfloat162 low, __nv_bfloat162 high)
      : __nv_fp8x4_e8m0(__nv_fp8x2_e8m0(low), __nv_fp8x2_e8m0(high)) {}
  __host__ __device__ explicit operator float4() const {
    const auto at = [this](int index) {
      __nv_fp8_e8m0 one;
      one.__x = static_cast<__nv_fp8_storage_t>(__x >> (8 * index) & 0xFF);
      return static_cast<float>(one);
    };
    return float4{at(0), at(1), at(2), at(3)};
  }

 private:
  __host__ __device__ __nv_fp8x4_e8m0(__nv_fp8x2_e8m0 low, __nv_fp8x2_e8m0 high)
      : __x(low.__x | static_cast<unsigned int>(high.__x) << 16) {}
};
