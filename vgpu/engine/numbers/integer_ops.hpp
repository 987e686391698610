#pragma once
// Integer operations on one lane as PTX defines them: they wrap, without undefined behaviour in
// C++.

#include <cstdint>
#include <limits>
#include <type_traits>

namespace rung::vgpu {

/// An unsigned type at least as wide as int, whose arithmetic wraps. uint16_t would be promoted to
/// int.
template <class T>
using Wrapping = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;

template <class T>
inline T wrapped_sum(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
}
template <class T>
inline T wrapped_difference(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
}
template <class T>
inline T wrapped_product(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
}

namespace detail {
__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

template <class T>
struct TwiceOf;
template <>
struct TwiceOf<std::uint16_t> {
  using Type = std::uint32_t;
};
template <>
struct TwiceOf<std::int16_t> {
  using Type = std::int32_t;
};
template <>
struct TwiceOf<std::uint32_t> {
  using Type = std::uint64_t;
};
template <>
struct TwiceOf<std::int32_t> {
  using Type = std::int64_t;
};
template <>
struct TwiceOf<std::uint64_t> {
  using Type = Uint128;
};
template <>
struct TwiceOf<std::int64_t> {
  using Type = Int128;
};
}  // namespace detail

/// The integer type of twice the width.
template <class T>
using Twice = typename detail::TwiceOf<T>::Type;

template <class T>
inline Twice<T> wide_product(T a, T b) {
  return static_cast<Twice<T>>(a) * static_cast<Twice<T>>(b);
}

/// The upper half of the full product.
template <class T>
inline T high_product(T a, T b) {
  return static_cast<T>(wide_product(a, b) >> (sizeof(T) * 8));
}

/// The product of the low 24 bits, which are signed if T is.
template <class T>
inline Twice<T> product24(T a, T b) {
  static_assert(sizeof(T) == 4);
  const T low_a = static_cast<T>(static_cast<std::uint32_t>(a) << 8) >> 8;
  const T low_b = static_cast<T>(static_cast<std::uint32_t>(b) << 8) >> 8;
  return wide_product(low_a, low_b);
}

/// The nearest value that T can represent.
template <class T, class From>
inline T clamped(From value) {
  constexpr From low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  return static_cast<T>(value < low ? low : value > high ? high : value);
}

}  // namespace rung::vgpu
