#pragma once
// <metal_integer>, element by element.

namespace metal {
namespace rung_detail {

template <class T>
constexpr int bits = static_cast<int>(sizeof(T) * 8);

/// The type with twice the bits.
template <class T>
using wider_t =
    conditional_t<sizeof(T) == 8, conditional_t<__is_signed(T), __int128, unsigned __int128>,
                  conditional_t<__is_signed(T), long, ulong>>;

template <class T>
RUNG_METAL T high(T a, T b) {
  using Wide = wider_t<T>;
  return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> bits<T>);
}

template <class T>
RUNG_METAL T saturated(wider_t<T> value) {
  using Wide = wider_t<T>;
  const Wide low = numeric_limits<T>::min(), most = numeric_limits<T>::max();
  return static_cast<T>(value < low ? low : value > most ? most : value);
}

template <class T>
using if_integer = enable_if_t<__is_integral(element_t<T>)>;

}  // namespace rung_detail

#define RUNG_METAL_INTEGER_1(name, ...)                                             \
  template <class T, class = rung_detail::if_integer<T>>                            \
  RUNG_METAL constexpr T name(T x) {                                                \
    using E = rung_detail::element_t<T>;                                            \
    return rung_detail::map<T>([](E v) { return static_cast<E>(__VA_ARGS__); }, x); \
  }
RUNG_METAL_INTEGER_1(popcount, __builtin_popcountll(static_cast<make_unsigned_t<E>>(v)))
RUNG_METAL_INTEGER_1(clz, v == 0 ? rung_detail::bits<E>
                                 : __builtin_clzll(static_cast<make_unsigned_t<E>>(v)) - 64 +
                                       rung_detail::bits<E>)
RUNG_METAL_INTEGER_1(ctz, v == 0 ? rung_detail::bits<E>
                                 : __builtin_ctzll(static_cast<make_unsigned_t<E>>(v)))
RUNG_METAL_INTEGER_1(reverse_bits, __builtin_bitreverse64(static_cast<make_unsigned_t<E>>(v)) >>
                                       (64 - rung_detail::bits<E>))
#undef RUNG_METAL_INTEGER_1

#define RUNG_METAL_INTEGER_2(name, ...)                                                   \
  template <class A, class B, class T = rung_detail::common_number_t<A, B>,               \
            class = rung_detail::if_integer<T>>                                           \
  RUNG_METAL T name(A x, B y) {                                                           \
    using E = rung_detail::element_t<T>;                                                  \
    return rung_detail::map<T>([](E a, E b) -> E { return static_cast<E>(__VA_ARGS__); }, \
                               rung_detail::make<T>(x), rung_detail::make<T>(y));         \
  }
RUNG_METAL_INTEGER_2(mulhi, rung_detail::high(a, b))
RUNG_METAL_INTEGER_2(mul24, a* b)
RUNG_METAL_INTEGER_2(addsat, rung_detail::saturated<E>(rung_detail::wider_t<E>(a) + b))
RUNG_METAL_INTEGER_2(hadd, (a & b) + ((a ^ b) >> 1))
RUNG_METAL_INTEGER_2(rhadd, (a | b) - ((a ^ b) >> 1))
RUNG_METAL_INTEGER_2(absdiff, a < b ? b - a : a - b)
#undef RUNG_METAL_INTEGER_2

template <class T, class = rung_detail::if_integer<T>>
RUNG_METAL T subsat(T x, T y) {
  using E = rung_detail::element_t<T>;
  return rung_detail::map<T>(
      [](E a, E b) -> E {
        if constexpr (__is_unsigned(E)) return a < b ? E(0) : static_cast<E>(a - b);
        return rung_detail::saturated<E>(rung_detail::wider_t<E>(a) - b);
      },
      x, y);
}

template <class T, class S, class = rung_detail::if_integer<T>>
RUNG_METAL constexpr T rotate(T x, S by) {
  using E = rung_detail::element_t<T>;
  using U = make_unsigned_t<E>;
  return rung_detail::map<T>(
      [](E v, E n) {
        const int left = static_cast<int>(static_cast<U>(n) % rung_detail::bits<E>);
        const U u = static_cast<U>(v);
        return left == 0 ? v : static_cast<E>((u << left) | (u >> (rung_detail::bits<E> - left)));
      },
      x, rung_detail::make<T>(by));
}

template <class T>
RUNG_METAL T madhi(T a, T b, T c) {
  return mulhi(a, b) + c;
}
template <class T>
RUNG_METAL T mad24(T a, T b, T c) {
  return a * b + c;
}
template <class T>
RUNG_METAL T madsat(T a, T b, T c) {
  using E = rung_detail::element_t<T>;
  return rung_detail::map<T>(
      [](E u, E v, E w) { return rung_detail::saturated<E>(rung_detail::wider_t<E>(u) * v + w); },
      a, b, c);
}
template <class T>
RUNG_METAL T extract_bits(T x, uint offset, uint count) {
  using E = rung_detail::element_t<T>;
  return rung_detail::map<T>(
      [=](E v) -> E {
        if (count == 0) return 0;
        return static_cast<E>(static_cast<E>(v << (rung_detail::bits<E> - offset - count)) >>
                              (rung_detail::bits<E> - count));
      },
      x);
}
template <class T>
RUNG_METAL T insert_bits(T base, T inserted, uint offset, uint count) {
  using E = rung_detail::element_t<T>;
  using U = make_unsigned_t<E>;
  const U ones = count >= static_cast<uint>(rung_detail::bits<E>) ? U(-1) : U((U(1) << count) - 1);
  const U mask = static_cast<U>(ones << offset);
  return rung_detail::map<T>(
      [=](E b, E v) { return static_cast<E>((U(b) & ~mask) | ((U(v) << offset) & mask)); }, base,
      inserted);
}

}  // namespace metal
