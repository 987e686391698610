#pragma once
// Conversions of single numbers (PTX ISA, 9.7.9, cvt).

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "vgpu/engine/lanes/lane_types.hpp"
#include "vgpu/engine/numbers/float_bits.hpp"
#include "vgpu/engine/numbers/integer_ops.hpp"
#include "vgpu/engine/numbers/small_floats.hpp"

namespace rung::vgpu {

/// Converts between a lane and its C++ number. 8-bit integers are extended to their 16-bit row.
template <class T>
inline T value_of(T lane) {
  return lane;
}
inline std::uint8_t value_of(U8 lane) { return static_cast<std::uint8_t>(lane.bits); }
inline std::int8_t value_of(S8 lane) { return static_cast<std::int8_t>(lane.bits); }

template <class T>
struct LaneOf {
  using Number = T;
  static T from(T number) { return number; }
};
template <>
struct LaneOf<U8> {
  using Number = std::uint8_t;
  static U8 from(std::uint8_t number) { return {number}; }
};
template <>
struct LaneOf<S8> {
  using Number = std::int8_t;
  static S8 from(std::int8_t number) { return {static_cast<std::uint16_t>(std::int16_t{number})}; }
};

/// Rounding modes to an integer: .rni, .rzi, .rmi, .rpi. The CPU's own mode is to nearest even.
enum class ToInteger { nearest, zero, down, up };

template <ToInteger rounding, class T>
inline T integral(T x) {
  if constexpr (rounding == ToInteger::nearest) return std::nearbyint(x);
  if constexpr (rounding == ToInteger::zero) return std::trunc(x);
  if constexpr (rounding == ToInteger::down) return std::floor(x);
  if constexpr (rounding == ToInteger::up) return std::ceil(x);
}

/// 2^(value bits of I): the smallest number above the range of an integer type.
template <class I, class T>
constexpr T above_range() {
  return static_cast<T>(std::uint64_t{1} << (std::numeric_limits<I>::digits - 1)) * 2;
}

/// Converts an integral number to an integer, clamped to its range. NaN becomes 0 or, from f64 or
/// to 64 bits, an integer with only the highest bit set.
template <class I, class T>
inline I to_integer(T x) {
  constexpr bool keeps_bit = sizeof(T) == 8 || sizeof(I) == 8;
  constexpr I of_nan = static_cast<I>(keeps_bit ? std::uint64_t{1} << (sizeof(I) * 8 - 1) : 0);
  constexpr T above = above_range<I, T>();
  constexpr T lowest = std::is_signed_v<I> ? -above : T{0};
  const bool too_large = x >= above;
  const bool too_small = x < lowest;
  const T inside = too_large || too_small || x != x ? T{0} : x;
  const I small = too_small ? std::numeric_limits<I>::min() : static_cast<I>(inside);
  const I number = too_large ? std::numeric_limits<I>::max() : small;
  return x == x ? number : of_nan;
}

/// Converts an integer to floating point, rounded toward zero, down or up.
template <class D, Rounding rounding, class I>
inline D directed(I value) {
  const D nearest = static_cast<D>(value);
  const auto reached = static_cast<detail::Int128>(nearest),
             wanted = static_cast<detail::Int128>(value);
  constexpr D infinity = std::numeric_limits<D>::infinity();
  const bool down = rounding == Rounding::down || (rounding == Rounding::zero && value > 0);
  if (down) return reached > wanted ? std::nextafter(nearest, -infinity) : nearest;
  return reached < wanted ? std::nextafter(nearest, infinity) : nearest;
}

/// The value of D nearest to `value` (.sat).
template <class D, class S>
inline D saturated_integer(S value) {
  using Limits = std::numeric_limits<D>;
  if constexpr (std::is_signed_v<S>) {
    const auto wide = static_cast<std::int64_t>(value);
    if (wide < static_cast<std::int64_t>(Limits::min() < 0 ? Limits::min() : 0)) {
      return Limits::min();
    }
    if (wide < 0) return static_cast<D>(value);
  }
  const auto wide = static_cast<std::uint64_t>(value);
  return wide > static_cast<std::uint64_t>(Limits::max()) ? Limits::max() : static_cast<D>(value);
}

}  // namespace rung::vgpu
