#pragma once
// Packed vectors: the elements one after the other, aligned like one element. Parts such as p.zyx are
// properties, whose values are vectors; RUNG_METAL_PARTS_OF_N lists those that the file names.

namespace metal {

#define RUNG_METAL_CONST_PART(name, count, ...)                                         \
  RUNG_METAL vec<T, count> get_##name() const { return this->get_part<__VA_ARGS__>(); } \
  __declspec(property(get = get_##name)) vec<T, count> name;
#define RUNG_METAL_PART(name, count, ...)                                               \
  RUNG_METAL vec<T, count> get_##name() const { return this->get_part<__VA_ARGS__>(); } \
  RUNG_METAL void put_##name(vec<T, count> part) { this->put_part<__VA_ARGS__>(part); } \
  __declspec(property(get = get_##name, put = put_##name)) vec<T, count> name;
#define RUNG_METAL_PACKED_MEMBERS(N)                                                      \
  packed_vec() = default;                                                                 \
  RUNG_METAL packed_vec(vec<T, N> v) {                                                    \
    for (int i = 0; i < N; ++i) elements[i] = v[i];                                       \
  }                                                                                       \
  RUNG_METAL explicit packed_vec(T value) {                                               \
    for (int i = 0; i < N; ++i) elements[i] = value;                                      \
  }                                                                                       \
  template <class A, class B, class... R>                                                 \
  RUNG_METAL packed_vec(A a, B b, R... rest)                                              \
      : packed_vec(rung_detail::make<vec<T, N>>(a, b, rest...)) {}                        \
  template <class U>                                                                      \
  RUNG_METAL explicit packed_vec(packed_vec<U, N> other)                                  \
      : packed_vec(rung_detail::make<vec<T, N>>(other)) {}                                \
  RUNG_METAL operator vec<T, N>() const {                                                 \
    vec<T, N> v;                                                                          \
    for (int i = 0; i < N; ++i) v[i] = elements[i];                                       \
    return v;                                                                             \
  }                                                                                       \
  template <int... I>                                                                     \
  RUNG_METAL vec<T, sizeof...(I)> get_part() const {                                      \
    return {elements[I]...};                                                              \
  }                                                                                       \
  template <int... I>                                                                     \
  RUNG_METAL void put_part(vec<T, sizeof...(I)> part) {                                   \
    int i = 0;                                                                            \
    ((elements[I] = part[i++]), ...);                                                     \
  }                                                                                       \
  RUNG_METAL T& operator[](int i) { return elements[i]; }                                 \
  RUNG_METAL const T& operator[](int i) const { return elements[i]; }                     \
  RUNG_METAL packed_vec& operator+=(vec<T, N> o) { return *this = vec<T, N>(*this) + o; } \
  RUNG_METAL packed_vec& operator-=(vec<T, N> o) { return *this = vec<T, N>(*this) - o; } \
  RUNG_METAL packed_vec& operator*=(vec<T, N> o) { return *this = vec<T, N>(*this) * o; } \
  RUNG_METAL packed_vec& operator/=(vec<T, N> o) { return *this = vec<T, N>(*this) / o; }

template <class T>
struct packed_vec<T, 2> {
  union {
    T elements[2];
    struct {
      T x, y;
    };
    struct {
      T r, g;
    };
  };
  RUNG_METAL_PACKED_MEMBERS(2)
  RUNG_METAL_PARTS_OF_2
};
template <class T>
struct packed_vec<T, 3> {
  union {
    T elements[3];
    struct {
      T x, y, z;
    };
    struct {
      T r, g, b;
    };
  };
  RUNG_METAL_PACKED_MEMBERS(3)
  RUNG_METAL_PARTS_OF_3
};
template <class T>
struct packed_vec<T, 4> {
  union {
    T elements[4];
    struct {
      T x, y, z, w;
    };
    struct {
      T r, g, b, a;
    };
  };
  RUNG_METAL_PACKED_MEMBERS(4)
  RUNG_METAL_PARTS_OF_4
};
#undef RUNG_METAL_PACKED_MEMBERS
#undef RUNG_METAL_PART
#undef RUNG_METAL_CONST_PART

// The results are vectors; those of comparisons are integers, as for other vectors.
#define RUNG_METAL_PACKED_OPERATOR(op)                                    \
  template <class T, int N>                                               \
  RUNG_METAL auto operator op(packed_vec<T, N> a, packed_vec<T, N> b) {   \
    return vec<T, N>(a) op vec<T, N>(b);                                  \
  }                                                                       \
  template <class T, int N>                                               \
  RUNG_METAL auto operator op(packed_vec<T, N> a, vec<T, N> b) {          \
    return vec<T, N>(a) op b;                                             \
  }                                                                       \
  template <class T, int N>                                               \
  RUNG_METAL auto operator op(vec<T, N> a, packed_vec<T, N> b) {          \
    return a op vec<T, N>(b);                                             \
  }                                                                       \
  template <class T, int N, class S, class = enable_if_t<is_scalar_v<S>>> \
  RUNG_METAL auto operator op(packed_vec<T, N> a, S b) {                  \
    return vec<T, N>(a) op vec<T, N>(static_cast<T>(b));                  \
  }                                                                       \
  template <class T, int N, class S, class = enable_if_t<is_scalar_v<S>>> \
  RUNG_METAL auto operator op(S a, packed_vec<T, N> b) {                  \
    return vec<T, N>(static_cast<T>(a)) op vec<T, N>(b);                  \
  }
#define RUNG_METAL_PACKED_ASSIGNMENT(op)                                  \
  RUNG_METAL_PACKED_OPERATOR(op)                                          \
  template <class T, int N, class B>                                      \
  RUNG_METAL packed_vec<T, N>& operator op##=(packed_vec<T, N>& a, B b) { \
    return a = a op b;                                                    \
  }
RUNG_METAL_PACKED_OPERATOR(+)
RUNG_METAL_PACKED_OPERATOR(-)
RUNG_METAL_PACKED_OPERATOR(*)
RUNG_METAL_PACKED_OPERATOR(/)
RUNG_METAL_PACKED_ASSIGNMENT(%)
RUNG_METAL_PACKED_ASSIGNMENT(&)
RUNG_METAL_PACKED_ASSIGNMENT(|)
RUNG_METAL_PACKED_ASSIGNMENT(^)
RUNG_METAL_PACKED_ASSIGNMENT(<<)
RUNG_METAL_PACKED_ASSIGNMENT(>>)
RUNG_METAL_PACKED_OPERATOR(==)
RUNG_METAL_PACKED_OPERATOR(!=)
RUNG_METAL_PACKED_OPERATOR(<)
RUNG_METAL_PACKED_OPERATOR(<=)
RUNG_METAL_PACKED_OPERATOR(>)
RUNG_METAL_PACKED_OPERATOR(>=)
#undef RUNG_METAL_PACKED_ASSIGNMENT
#undef RUNG_METAL_PACKED_OPERATOR
template <class T, int N>
RUNG_METAL vec<T, N> operator-(packed_vec<T, N> a) {
  return -vec<T, N>(a);
}
template <class T, int N>
RUNG_METAL vec<T, N> operator~(packed_vec<T, N> a) {
  return ~vec<T, N>(a);
}

}  // namespace metal

#define RUNG_METAL_PACKED(T)                     \
  using packed_##T##2 = metal::packed_vec<T, 2>; \
  using packed_##T##3 = metal::packed_vec<T, 3>; \
  using packed_##T##4 = metal::packed_vec<T, 4>; \
  namespace metal {                              \
  using ::packed_##T##2;                         \
  using ::packed_##T##3;                         \
  using ::packed_##T##4;                         \
  }
RUNG_METAL_FOR_EACH_SCALAR(RUNG_METAL_PACKED)
#undef RUNG_METAL_PACKED
