#pragma once
// <metal_relational>. Comparisons of clang's vectors yield integers whose bits are all 1 or all 0;
// any, all and select take these and vectors of bool.

namespace metal {

#define RUNG_METAL_PREDICATE(name, ...)                                          \
  template <class T, class R = rung_detail::truth_t<rung_detail::floating_t<T>>> \
  RUNG_METAL R name(T x) {                                                       \
    return rung_detail::map<R>(                                                  \
        [](auto number) {                                                        \
          const float v = static_cast<float>(number);                            \
          return __VA_ARGS__;                                                    \
        },                                                                       \
        x);                                                                      \
  }
RUNG_METAL_PREDICATE(isnan, v != v)
RUNG_METAL_PREDICATE(isinf, __builtin_fabsf(v) == __builtin_huge_valf())
RUNG_METAL_PREDICATE(isfinite, __builtin_fabsf(v) < __builtin_huge_valf())
RUNG_METAL_PREDICATE(signbit, __builtin_bit_cast(uint, v) >> 31 != 0)
#undef RUNG_METAL_PREDICATE
template <class T, class R = rung_detail::truth_t<rung_detail::floating_t<T>>>
RUNG_METAL R isnormal(T x) {
  return rung_detail::map<R>(
      [](auto v) {
        const float size = __builtin_fabsf(static_cast<float>(v));
        return size >= static_cast<float>(numeric_limits<decltype(v)>::min()) &&
               size < __builtin_huge_valf();
      },
      x);
}
template <class T, class R = rung_detail::truth_t<rung_detail::floating_t<T>>>
RUNG_METAL R isunordered(T a, T b) {
  return rung_detail::map<R>([](auto v, auto w) { return v != v || w != w; }, a, b);
}
template <class T, class R = rung_detail::truth_t<rung_detail::floating_t<T>>>
RUNG_METAL R isordered(T a, T b) {
  return rung_detail::map<R>([](auto v, auto w) { return v == v && w == w; }, a, b);
}

template <class C, int N>
RUNG_METAL bool any(vec<C, N> c) {
  for (int i = 0; i < N; ++i) {
    if (c[i]) return true;
  }
  return false;
}
template <class C, int N>
RUNG_METAL bool all(vec<C, N> c) {
  for (int i = 0; i < N; ++i) {
    if (!c[i]) return false;
  }
  return true;
}
RUNG_METAL bool any(bool c) { return c; }
RUNG_METAL bool all(bool c) { return c; }

/// b where c holds, a elsewhere.
template <class A, class B, class R = rung_detail::common_number_t<A, B>>
RUNG_METAL R select(A a, B b, bool c) {
  return c ? rung_detail::make<R>(b) : rung_detail::make<R>(a);
}
template <class A, class B, class C, int N,
          class R = vec<rung_detail::element_t<rung_detail::common_number_t<A, B>>, N>>
RUNG_METAL R select(A a, B b, vec<C, N> c) {
  const R from = rung_detail::make<R>(a), other = rung_detail::make<R>(b);
  R result;
  for (int i = 0; i < N; ++i) result[i] = c[i] ? other[i] : from[i];
  return result;
}

}  // namespace metal
