#pragma once
// <metal_geometric>

namespace metal {
namespace rung_detail {
/// The vectors of two arguments of the same number of elements.
template <class A, class B>
using vector_t = enable_if_t<is_vector<common_number_t<A, B>>, common_number_t<A, B>>;
}  // namespace rung_detail

template <class A, class B, class V = rung_detail::vector_t<A, B>>
RUNG_METAL rung_detail::element_t<V> dot(A a, B b) {
  const V v = rung_detail::make<V>(a), w = rung_detail::make<V>(b);
  rung_detail::element_t<V> sum = v[0] * w[0];
  for (int i = 1; i < rung_detail::count<V>; ++i) sum += v[i] * w[i];
  return sum;
}
template <class A, class B, class V = rung_detail::vector_t<A, B>>
RUNG_METAL V cross(A a, B b) {
  const V v = rung_detail::make<V>(a), w = rung_detail::make<V>(b);
  return v.yzx * w.zxy - v.zxy * w.yzx;
}
template <class A, class V = rung_detail::vector_t<A, A>>
RUNG_METAL rung_detail::element_t<V> length_squared(A a) {
  return dot(a, a);
}
#define RUNG_METAL_LENGTHS                                            \
  template <class A, class V = rung_detail::vector_t<A, A>>           \
  RUNG_METAL rung_detail::element_t<V> length(A a) {                  \
    return metal::sqrt(dot(a, a));                                    \
  }                                                                   \
  template <class A, class B, class V = rung_detail::vector_t<A, B>>  \
  RUNG_METAL rung_detail::element_t<V> distance(A a, B b) {           \
    return length(rung_detail::make<V>(a) - rung_detail::make<V>(b)); \
  }                                                                   \
  template <class A, class V = rung_detail::vector_t<A, A>>           \
  RUNG_METAL V normalize(A a) {                                       \
    const V v = rung_detail::make<V>(a);                              \
    return v * metal::rsqrt(dot(v, v));                               \
  }
RUNG_METAL_LENGTHS
namespace precise {
RUNG_METAL_LENGTHS
}
namespace fast {
RUNG_METAL_LENGTHS
}
#undef RUNG_METAL_LENGTHS
RUNG_METAL float length(float x) { return __builtin_fabsf(x); }
RUNG_METAL float distance(float x, float y) { return __builtin_fabsf(x - y); }
template <class A, class B, class V = rung_detail::vector_t<A, B>>
RUNG_METAL rung_detail::element_t<V> distance_squared(A a, B b) {
  return length_squared(rung_detail::make<V>(a) - rung_detail::make<V>(b));
}
template <class T, int N>
RUNG_METAL vec<T, N> reflect(vec<T, N> i, vec<T, N> n) {
  return i - n * (T(2) * dot(n, i));
}
template <class T, int N, class E>
RUNG_METAL vec<T, N> refract(vec<T, N> i, vec<T, N> n, E ratio) {
  const T eta = static_cast<T>(ratio), cosine = dot(n, i);
  const T k = T(1) - eta * eta * (T(1) - cosine * cosine);
  return k < T(0) ? vec<T, N>(T(0)) : i * eta - n * (eta * cosine + metal::sqrt(k));
}
template <class T, int N>
RUNG_METAL vec<T, N> faceforward(vec<T, N> n, vec<T, N> i, vec<T, N> reference) {
  return dot(reference, i) < T(0) ? n : -n;
}

}  // namespace metal
