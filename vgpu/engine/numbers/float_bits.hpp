#pragma once
// PTX's rules for floating-point operands and results beyond IEEE 754: canonical NaN, .ftz, .sat,
// and minima that ignore NaN (PTX ISA, 9.7.3).

#include <bit>
#include <cmath>
#include <cstddef>
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

/// Replaces a NaN by the NaN that operations return: the canonical one in single precision. Double
/// precision keeps payloads (propagated()).
inline float canonical(float x) { return x == x ? x : std::bit_cast<float>(0x7FFFFFFFu); }
inline double canonical(double x) { return x; }

/// .ftz: replaces subnormal numbers by zeros of the same sign.
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

/// The result of an operation on `operands`, with PTX's NaN. Double precision keeps payloads (PTX
/// ISA, 9.7.3), but the manual does not say which operand's. Here, the result is the first NaN
/// operand, quieted, or the default NaN if no operand is NaN. x86's vector instructions choose the
/// same, but compilers may exchange the operands of a sum or a product, and other CPUs have other
/// rules.
template <class... Operands>
inline double propagated(double result, Operands... operands) {
  static_assert(sizeof...(operands) > 0, "the payload is an operand's");
  double nan = std::bit_cast<double>(0xFFF8000000000000u);
  const auto take = [&](double operand) { nan = operand == operand ? nan : quiet(operand); };
  const double reversed[] = {operands...};
  for (std::size_t i = sizeof...(operands); i-- > 0;) take(reversed[i]);
  return result == result ? result : nan;
}
template <class... Operands>
inline float propagated(float result, Operands...) {
  return canonical(result);
}
/// .sat: clamps to [0, 1]; NaN becomes +0.
inline float saturated(float x) {
  const float above_zero = x > 0.0f ? x : 0.0f;
  return above_zero < 1.0f ? above_zero : 1.0f;
}

/// Applies .ftz, .sat and NaN rules to a result.
template <bool ftz, bool sat, class T, class... Operands>
inline T finished(T result, Operands... operands) {
  if constexpr (sat) return saturated(flushed<ftz>(result));
  return propagated(flushed<ftz>(result), operands...);
}

/// .ftz of products and quotients depends on the result before rounding: a result below the
/// smallest normal number becomes zero even if rounding would make it normal. `scaled` is the
/// result times ftz_scale, which is far from the subnormal range. If the scaling overflows,
/// `result` is large.
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

/// The smaller or larger of two numbers, with -0 < +0. If one is NaN, returns the other or, if
/// `nan`, NaN.
template <bool smaller, bool nan, class T>
inline T extreme(T a, T b) {
  const auto bits_a = bits_of(a), bits_b = bits_of(b);
  const T equal = std::bit_cast<T>(smaller ? bits_a | bits_b : bits_a & bits_b);
  const T ordered = a < b ? (smaller ? a : b) : (b < a ? (smaller ? b : a) : equal);
  const T with_b = b == b ? ordered : (nan ? b : a);
  return canonical(quiet(a == a ? with_b : (nan ? a : b)));
}

}  // namespace rung::vgpu
