#pragma once
// Numbers of 4 and 6 bits, which have neither infinity nor NaN: what cuda_fp4.h and cuda_fp6.h share.

#include "cuda_fp8.h"
#include "small_float_bits.h"

namespace rung_emu {

/// A format: bits of the fraction, bias of the exponent, and the bits of the largest number.
template <int Fraction, int Bias, unsigned int Largest>
struct TinyFormat {
  static constexpr unsigned int sign = Largest + 1;

  static __host__ __device__ double value(unsigned int bits) {
    const double magnitude = decode_small(bits & Largest, Fraction, Bias);
    return (bits & sign) != 0 ? -magnitude : magnitude;
  }
  /// Rounds in the mode; numbers that are too large become the largest one, and NaN the largest positive one.
  static __host__ __device__ unsigned int bits(double value, cudaRoundMode mode) {
    if (value != value) return Largest;
    const bool is_negative = (__builtin_bit_cast(unsigned long long, value) >> 63) != 0;
    const double magnitude = __builtin_fabs(value);
    unsigned int found = Largest;
    if (magnitude < decode_small(Largest, Fraction, Bias)) {
      found = encode_small(magnitude, Fraction, Bias);
      const double rounded = decode_small(found, Fraction, Bias);
      const bool up = mode == (is_negative ? cudaRoundMinInf : cudaRoundPosInf);
      const bool nearest = mode == cudaRoundNearest;
      if (!nearest && up && rounded < magnitude) ++found;
      if (!nearest && !up && rounded > magnitude) --found;
    }
    return found | (is_negative ? sign : 0u);
  }
};

/// One number, in the lower bits of a byte.
template <class Format>
struct TinyFloat {
  __nv_fp8_storage_t __x;
  TinyFloat() = default;
  template <class T, class = decltype(static_cast<double>(T()))>
  __host__ __device__ explicit TinyFloat(T v) : TinyFloat(static_cast<double>(v)) {}
  __host__ __device__ explicit TinyFloat(double v)
      : __x(static_cast<__nv_fp8_storage_t>(Format::bits(v, cudaRoundNearest))) {}
  __host__ __device__ explicit TinyFloat(__half v) : TinyFloat(__half2float(v)) {}
  __host__ __device__ explicit TinyFloat(__nv_bfloat16 v) : TinyFloat(__bfloat162float(v)) {}
  __host__ __device__ explicit operator double() const { return Format::value(__x); }
  __host__ __device__ explicit operator float() const {
    return static_cast<float>(Format::value(__x));
  }
  __host__ __device__ explicit operator __half() const {
    return __float2half(static_cast<float>(*this));
  }
  __host__ __device__ explicit operator __nv_bfloat16() const {
    return __float2bfloat16(static_cast<float>(*this));
  }
  __host__ __device__ explicit operator bool() const { return Format::value(__x) != 0; }
};

/// `count` numbers, each in `bits` bits of Storage, the first in the lowest.
template <class Format, class Storage, int count, int bits>
struct TinyFloats {
  Storage __x;
  TinyFloats() = default;
  __host__ __device__ explicit TinyFloats(float2 v) : __x(both(v.x, v.y)) {}
  __host__ __device__ explicit TinyFloats(double2 v) : __x(both(v.x, v.y)) {}
  __host__ __device__ explicit TinyFloats(float4 v) : __x(four(v.x, v.y, v.z, v.w)) {}
  __host__ __device__ explicit TinyFloats(double4 v) : __x(four(v.x, v.y, v.z, v.w)) {}
  __host__ __device__ explicit TinyFloats(__half2 v) : TinyFloats(__half22float2(v)) {}
  __host__ __device__ explicit TinyFloats(__nv_bfloat162 v) : TinyFloats(__bfloat1622float2(v)) {}
  __host__ __device__ TinyFloats(__half2 low, __half2 high)
      : TinyFloats(joined(__half22float2(low), __half22float2(high))) {}
  __host__ __device__ TinyFloats(__nv_bfloat162 low, __nv_bfloat162 high)
      : TinyFloats(joined(__bfloat1622float2(low), __bfloat1622float2(high))) {}
  __host__ __device__ explicit operator float2() const { return float2{at(0), at(1)}; }
  __host__ __device__ explicit operator float4() const {
    return float4{at(0), at(1), at(2), at(3)};
  }
  __host__ __device__ explicit operator __half2() const { return __floats2half2_rn(at(0), at(1)); }

 private:
  __host__ __device__ float at(int index) const {
    static_assert(sizeof(Storage) * 8 >= count * bits, "the numbers fit");
    return static_cast<float>(Format::value(__x >> (index * bits)));
  }
  static __host__ __device__ float4 joined(float2 low, float2 high) {
    return float4{low.x, low.y, high.x, high.y};
  }
  static __host__ __device__ Storage both(double x, double y) {
    static_assert(count == 2 || count == 4, "pairs and fours");
    return static_cast<Storage>(Format::bits(x, cudaRoundNearest) |
                                Format::bits(y, cudaRoundNearest) << bits);
  }
  static __host__ __device__ Storage four(double x, double y, double z, double w) {
    return static_cast<Storage>(both(x, y) | static_cast<Storage>(both(z, w)) << (2 * bits % 32));
  }
};

}  // namespace rung_emu

/// The conversions of numbers of N bits: FORMAT is the format for `kind`, PAIR_BITS the distance of a pair's numbers.
#define RUNG_EMU_TINY_CONVERSIONS(N, ENCODE, DECODE, PAIR_BITS)                                   \
  RUNG_EMU_HD __nv_fp##N##_storage_t __nv_cvt_double_to_fp##N(                                    \
      double value, __nv_fp##N##_interpretation_t kind, cudaRoundMode mode) {                     \
    (void)kind;                                                                                   \
    return static_cast<__nv_fp##N##_storage_t>(ENCODE);                                           \
  }                                                                                               \
  RUNG_EMU_HD __nv_fp##N##_storage_t __nv_cvt_float_to_fp##N(                                     \
      float value, __nv_fp##N##_interpretation_t kind, cudaRoundMode mode) {                      \
    return __nv_cvt_double_to_fp##N(value, kind, mode);                                           \
  }                                                                                               \
  RUNG_EMU_HD __nv_fp##N##_storage_t __nv_cvt_halfraw_to_fp##N(                                   \
      __half_raw value, __nv_fp##N##_interpretation_t kind, cudaRoundMode mode) {                 \
    return __nv_cvt_double_to_fp##N(__half2float(__half(value)), kind, mode);                     \
  }                                                                                               \
  RUNG_EMU_HD __nv_fp##N##_storage_t __nv_cvt_bfloat16raw_to_fp##N(                               \
      __nv_bfloat16_raw value, __nv_fp##N##_interpretation_t kind, cudaRoundMode mode) {          \
    return __nv_cvt_double_to_fp##N(__bfloat162float(__nv_bfloat16(value)), kind, mode);          \
  }                                                                                               \
  RUNG_EMU_HD __nv_fp##N##x2_storage_t __nv_cvt_double2_to_fp##N##x2(                             \
      double2 value, __nv_fp##N##_interpretation_t kind, cudaRoundMode mode) {                    \
    const unsigned int low = __nv_cvt_double_to_fp##N(value.x, kind, mode);                       \
    const unsigned int high = __nv_cvt_double_to_fp##N(value.y, kind, mode);                      \
    return static_cast<__nv_fp##N##x2_storage_t>(low | high << PAIR_BITS);                        \
  }                                                                                               \
  RUNG_EMU_HD __nv_fp##N##x2_storage_t __nv_cvt_float2_to_fp##N##x2(                              \
      float2 value, __nv_fp##N##_interpretation_t kind, cudaRoundMode mode) {                     \
    return __nv_cvt_double2_to_fp##N##x2(double2{value.x, value.y}, kind, mode);                  \
  }                                                                                               \
  RUNG_EMU_HD __nv_fp##N##x2_storage_t __nv_cvt_halfraw2_to_fp##N##x2(                            \
      __half2_raw value, __nv_fp##N##_interpretation_t kind, cudaRoundMode mode) {                \
    return __nv_cvt_float2_to_fp##N##x2(__half22float2(__half2(value)), kind, mode);              \
  }                                                                                               \
  RUNG_EMU_HD __nv_fp##N##x2_storage_t __nv_cvt_bfloat16raw2_to_fp##N##x2(                        \
      __nv_bfloat162_raw value, __nv_fp##N##_interpretation_t kind, cudaRoundMode mode) {         \
    return __nv_cvt_float2_to_fp##N##x2(__bfloat1622float2(__nv_bfloat162(value)), kind, mode);   \
  }                                                                                               \
  RUNG_EMU_HD __half_raw __nv_cvt_fp##N##_to_halfraw(__nv_fp##N##_storage_t bits,                 \
                                                     __nv_fp##N##_interpretation_t kind) {        \
    (void)kind;                                                                                   \
    return __float2half(static_cast<float>(DECODE));                                              \
  }                                                                                               \
  RUNG_EMU_HD __half2_raw __nv_cvt_fp##N##x2_to_halfraw2(__nv_fp##N##x2_storage_t bits,           \
                                                         __nv_fp##N##_interpretation_t kind) {    \
    constexpr unsigned int mask = (1u << PAIR_BITS) - 1;                                          \
    const auto low = static_cast<__nv_fp##N##_storage_t>(bits & mask);                            \
    const auto high = static_cast<__nv_fp##N##_storage_t>(bits >> PAIR_BITS & mask);              \
    return {__nv_cvt_fp##N##_to_halfraw(low, kind).x, __nv_cvt_fp##N##_to_halfraw(high, kind).x}; \
  }
