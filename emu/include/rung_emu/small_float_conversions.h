#pragma once
// Conversions of __half and __nv_bfloat16 with the rounding that the name says: rn to nearest even,
// rz to zero, ru up, rd down.

namespace rung_emu {

enum class Rounding { rn, rz, ru, rd };

/// The value as a T. The compiler rounds to nearest; for other modes, a result on the wrong side of the
/// value moves to the next number.
template <class T>
static __host__ __device__ __forceinline__ T round_to(double value, Rounding mode) {
  const T nearest(value);
  if (mode == Rounding::rn) return nearest;
  const double found = static_cast<double>(static_cast<float>(nearest));
  const bool is_above = found > value, is_below = found < value;
  const bool to_lower = mode == Rounding::rd || (mode == Rounding::rz && value > 0);
  const bool to_upper = mode == Rounding::ru || (mode == Rounding::rz && value < 0);
  unsigned short bits = __builtin_bit_cast(unsigned short, nearest);
  const bool is_negative = (bits & 0x8000) != 0, is_zero = (bits & 0x7FFF) == 0;
  if (to_lower && is_above) {
    bits = is_zero ? 0x8001 : static_cast<unsigned short>(is_negative ? bits + 1 : bits - 1);
  } else if (to_upper && is_below) {
    bits = is_zero ? 0x0001 : static_cast<unsigned short>(is_negative ? bits - 1 : bits + 1);
  }
  return __builtin_bit_cast(T, bits);
}

/// An integer as a double that rounds like it: what does not fit into 53 bits is noted in the last.
template <class Integer>
static __host__ __device__ __forceinline__ double sticky(Integer value) {
  const bool is_negative = value < 0;
  unsigned long long magnitude = is_negative ? 0 - static_cast<unsigned long long>(value)
                                             : static_cast<unsigned long long>(value);
  constexpr unsigned long long low = (1ull << 11) - 1;
  if (magnitude >> 53 != 0 && (magnitude & low) != 0) magnitude = (magnitude & ~low) | (low + 1);
  const double found = static_cast<double>(magnitude);
  return is_negative ? -found : found;
}

/// The integer of a number that is one, or the nearest of the type; 0 for NaN.
template <class Integer>
static __host__ __device__ __forceinline__ Integer saturate(float value, Integer least,
                                                            Integer most) {
  if (value != value) return 0;
  if (value <= static_cast<float>(least)) return least;
  if (value >= static_cast<float>(most)) return most;
  return static_cast<Integer>(value);
}

static __host__ __device__ __forceinline__ float round_to_integer(float value, Rounding mode) {
  switch (mode) {
    case Rounding::rn: return __builtin_rintf(value);
    case Rounding::rz: return __builtin_truncf(value);
    case Rounding::ru: return __builtin_ceilf(value);
    default: return __builtin_floorf(value);
  }
}

}  // namespace rung_emu

#define RUNG_EMU_SMALL_FLOAT_ROUNDED(T, NAME, MODE)                                    \
  RUNG_EMU_SMALL_FLOAT_INTEGER(T, NAME, MODE, int, int, -2147483647 - 1, 2147483647)   \
  RUNG_EMU_SMALL_FLOAT_INTEGER(T, NAME, MODE, unsigned int, uint, 0u, 4294967295u)     \
  RUNG_EMU_SMALL_FLOAT_INTEGER(T, NAME, MODE, short, short, -32768, 32767)             \
  RUNG_EMU_SMALL_FLOAT_INTEGER(T, NAME, MODE, unsigned short, ushort, 0, 65535)        \
  RUNG_EMU_SMALL_FLOAT_INTEGER(T, NAME, MODE, long long, ll, -9223372036854775807 - 1, \
                               9223372036854775807)                                    \
  RUNG_EMU_SMALL_FLOAT_INTEGER(T, NAME, MODE, unsigned long long, ull, 0, 18446744073709551615ull)

#define RUNG_EMU_SMALL_FLOAT_INTEGER(T, NAME, MODE, INTEGER, SHORT, LEAST, MOST)                \
  RUNG_EMU_HD T __##SHORT##2##NAME##_##MODE(INTEGER a) {                                        \
    return rung_emu::round_to<T>(rung_emu::sticky(a), rung_emu::Rounding::MODE);                \
  }                                                                                             \
  RUNG_EMU_HD INTEGER __##NAME##2##SHORT##_##MODE(T a) {                                        \
    return rung_emu::saturate<INTEGER>(rung_emu::round_to_integer(a, rung_emu::Rounding::MODE), \
                                       LEAST, MOST);                                            \
  }

#define RUNG_EMU_SMALL_FLOAT_CONVERSIONS(T, NAME)                                             \
  RUNG_EMU_SMALL_FLOAT_ROUNDED(T, NAME, rn)                                                   \
  RUNG_EMU_SMALL_FLOAT_ROUNDED(T, NAME, rz)                                                   \
  RUNG_EMU_SMALL_FLOAT_ROUNDED(T, NAME, ru)                                                   \
  RUNG_EMU_SMALL_FLOAT_ROUNDED(T, NAME, rd)                                                   \
  RUNG_EMU_HD T __float2##NAME##_rz(float a) {                                                \
    return rung_emu::round_to<T>(a, rung_emu::Rounding::rz);                                  \
  }                                                                                           \
  RUNG_EMU_HD T __float2##NAME##_ru(float a) {                                                \
    return rung_emu::round_to<T>(a, rung_emu::Rounding::ru);                                  \
  }                                                                                           \
  RUNG_EMU_HD T __float2##NAME##_rd(float a) {                                                \
    return rung_emu::round_to<T>(a, rung_emu::Rounding::rd);                                  \
  }                                                                                           \
  RUNG_EMU_HD signed char __##NAME##2char_rz(T a) {                                           \
    return static_cast<signed char>(rung_emu::saturate<int>(__builtin_truncf(a), -128, 127)); \
  }                                                                                           \
  RUNG_EMU_HD unsigned char __##NAME##2uchar_rz(T a) {                                        \
    return static_cast<unsigned char>(rung_emu::saturate<int>(__builtin_truncf(a), 0, 255));  \
  }
