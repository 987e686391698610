#pragma once
// <metal_common> and the comparing functions: min, max, clamp, mix, abs, select.

namespace metal {
namespace rung_detail {

struct Least {
  template <class T>
  RUNG_METAL constexpr T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct Most {
  template <class T>
  RUNG_METAL constexpr T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

}  // namespace rung_detail

#define RUNG_METAL_EXTREMES                                                                \
  template <class A, class B, class R = rung_detail::common_number_t<A, B>>                \
  RUNG_METAL constexpr R min(A a, B b) {                                                   \
    return rung_detail::map<R>(rung_detail::Least{}, rung_detail::make<R>(a),              \
                               rung_detail::make<R>(b));                                   \
  }                                                                                        \
  template <class A, class B, class R = rung_detail::common_number_t<A, B>>                \
  RUNG_METAL constexpr R max(A a, B b) {                                                   \
    return rung_detail::map<R>(rung_detail::Most{}, rung_detail::make<R>(a),               \
                               rung_detail::make<R>(b));                                   \
  }                                                                                        \
  template <class X, class A, class B,                                                     \
            class R = rung_detail::common_number_t<X, rung_detail::common_number_t<A, B>>> \
  RUNG_METAL constexpr R clamp(X x, A low, B high) {                                       \
    return min(max(x, low), high);                                                         \
  }                                                                                        \
  template <class A, class B, class C,                                                     \
            class R = rung_detail::common_number_t<rung_detail::common_number_t<A, B>, C>> \
  RUNG_METAL constexpr R min3(A a, B b, C c) {                                             \
    return min(min(a, b), c);                                                              \
  }                                                                                        \
  template <class A, class B, class C,                                                     \
            class R = rung_detail::common_number_t<rung_detail::common_number_t<A, B>, C>> \
  RUNG_METAL constexpr R max3(A a, B b, C c) {                                             \
    return max(max(a, b), c);                                                              \
  }                                                                                        \
  template <class T, class R = rung_detail::common_number_t<T, T>>                         \
  RUNG_METAL constexpr R median3(T a, T b, T c) {                                          \
    return max(min(a, b), min(max(a, b), c));                                              \
  }                                                                                        \
  template <class T, class R = rung_detail::common_number_t<T, T>>                         \
  RUNG_METAL constexpr R abs(T x) {                                                        \
    return rung_detail::map<R>(                                                            \
        [](auto v) {                                                                       \
          if constexpr (is_floating_point_v<decltype(v)>) {                                \
            return static_cast<decltype(v)>(__builtin_fabsf(static_cast<float>(v)));       \
          } else {                                                                         \
            return v < decltype(v)(0) ? static_cast<decltype(v)>(-v) : v;                  \
          }                                                                                \
        },                                                                                 \
        rung_detail::unpacked_t<T>(x));                                                    \
  }
RUNG_METAL_EXTREMES
namespace precise {
RUNG_METAL_EXTREMES
}
namespace fast {
RUNG_METAL_EXTREMES
}
#undef RUNG_METAL_EXTREMES

template <class A, class B, class C,
          class R = rung_detail::common_number_t<rung_detail::common_number_t<A, B>, C>>
RUNG_METAL R mix(A a, B b, C t) {
  const R from = rung_detail::make<R>(a);
  return from + (rung_detail::make<R>(b) - from) * rung_detail::make<R>(t);
}
template <class A, class B, class C,
          class R = rung_detail::common_number_t<rung_detail::common_number_t<A, B>, C>>
RUNG_METAL R smoothstep(A a, B b, C x) {
  const R from = rung_detail::make<R>(a);
  const R t = saturate((rung_detail::make<R>(x) - from) / (rung_detail::make<R>(b) - from));
  return t * t * (rung_detail::make<R>(3) - rung_detail::make<R>(2) * t);
}
template <class T>
RUNG_METAL T mad(T a, T b, T c) {
  return a * b + c;
}

}  // namespace metal
