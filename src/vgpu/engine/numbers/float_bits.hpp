#pragma once
// PTX's rules for floating-point operands and results beyond IEEE 754: canonical NaN, .ftz, .sat,
// and minima that ignore NaN (PTX ISA, 9.7.3).

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace rung::vgpu {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
constexpr BitsOf<T> sign_bit = BitsOf<T>{1} << (sizeof(T) * 8 - 1);

template <class T>
inline BitsOf<T> bits_of(T value) {
  return std::bit_cast<BitsOf<T>>(value);
}

/// Replaces NaN by the NaN that an operation produces: in single precision the canonical one;
/// double precision keeps the CPU's, which is the payload of an operand or the default quiet NaN.
inline float canonical(float x) { return x == x ? x : std::bit_cast<float>(0x7FFFFFFFu); }
inline double canonical(double x) { return x; }

/// .ftz: subnormal numbers are zeros of their sign.
template <bool ftz>
inline float flushed(float x) {
  if constexpr (!ftz) return x;
  const std::uint32_t bits = bits_of(x);
  return std::bit_cast<float>((bits & 0x7F800000u) == 0 ? bits & 0x80000000u : bits);
}
template <bool ftz>
inline double flushed(double x) {
  static_assert(!ftz, "there is no .ftz for f64");
  return x;
}

/// Quiets a NaN; other numbers are unchanged.
template <class T>
inline T quiet(T x) {
  constexpr BitsOf<T> quiet_bit = BitsOf<T>{1} << (std::numeric_limits<T>::digits - 2);
  return x == x ? x : std::bit_cast<T>(bits_of(x) | quiet_bit);
}

/// .sat: into [0, 1]; NaN becomes +0.
inline float saturated(float x) {
  const float above_zero = x > 0.0f ? x : 0.0f;
  return above_zero < 1.0f ? above_zero : 1.0f;
}

template <bool ftz, bool sat, class T>
inline T finished(T result) {
  if constexpr (sat) return saturated(flushed<ftz>(result));
  return canonical(flushed<ftz>(result));
}

/// .ftz of products and quotients depends on the result before rounding: one below the smallest
/// normal number becomes zero even if rounding would make it normal. `scaled` is the result times
/// ftz_scale, which is far from the subnormal range; where the scaling overflows, `result` is
/// large.
inline constexpr float ftz_scale = 0x1p32f;

template <bool ftz>
inline float flushed_result(float result, float scaled) {
  if constexpr (!ftz) return result;
  const std::uint32_t sign = bits_of(result) & 0x80000000u;
  const bool tiny_scaled = bits_of(scaled) << 1 < bits_of(0x1p-126f * ftz_scale) << 1;
  const bool small = bits_of(result) << 1 <= bits_of(0x1p-126f) << 1;
  return std::bit_cast<float>((tiny_scaled & small) ? sign : bits_of(result));
}

template <class T>
inline T magnitude(T x) {
  return std::bit_cast<T>(bits_of(x) & ~sign_bit<T>);
}

/// The smaller or larger of two numbers, with -0 below +0. If one is NaN, the other or, with `nan`,
/// NaN.
template <bool smaller, bool nan, class T>
inline T extreme(T a, T b) {
  const auto bits_a = bits_of(a), bits_b = bits_of(b);
  const T equal = std::bit_cast<T>(smaller ? bits_a | bits_b : bits_a & bits_b);
  const T ordered = a < b ? (smaller ? a : b) : (b < a ? (smaller ? b : a) : equal);
  const T with_b = b == b ? ordered : (nan ? b : a);
  return canonical(quiet(a == a ? with_b : (nan ? a : b)));
}

}  // namespace rung::vgpu
