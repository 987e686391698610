#pragma once
// Scalars, vectors, and the type traits that the rest of the library needs.

using uchar = unsigned char;
using ushort = unsigned short;
using uint = unsigned int;
using ulong = unsigned long;
using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long;
using size_t = unsigned long;
using half = _Float16;
using bfloat = __bf16;

static_assert(sizeof(long) == 8, "long has 64 bits in Metal");

namespace metal {

template <class T, int N>
using vec = T __attribute__((ext_vector_type(N)));

template <bool holds, class T = void>
struct enable_if {};
template <class T>
struct enable_if<true, T> {
  using type = T;
};
template <bool holds, class T = void>
using enable_if_t = typename enable_if<holds, T>::type;

template <class A, class B>
struct is_same {
  static constexpr bool value = false;
};
template <class A>
struct is_same<A, A> {
  static constexpr bool value = true;
};

template <class A, class B>
constexpr bool is_same_v = is_same<A, B>::value;

namespace detail {
template <class V>
struct Element;
template <class T, int N>
struct Element<vec<T, N>> {
  using type = T;
};
}  // namespace detail

/// The same bits as another type of as many bytes.
template <class To, class From>
constexpr To as_type(From value) {
  return __builtin_bit_cast(To, value);
}

}  // namespace metal

#define RUNG_METAL_VECTORS(T)    \
  using T##2 = metal::vec<T, 2>; \
  using T##3 = metal::vec<T, 3>; \
  using T##4 = metal::vec<T, 4>;
RUNG_METAL_VECTORS(char)
RUNG_METAL_VECTORS(uchar)
RUNG_METAL_VECTORS(short)
RUNG_METAL_VECTORS(ushort)
RUNG_METAL_VECTORS(int)
RUNG_METAL_VECTORS(uint)
RUNG_METAL_VECTORS(long)
RUNG_METAL_VECTORS(ulong)
RUNG_METAL_VECTORS(half)
RUNG_METAL_VECTORS(bfloat)
RUNG_METAL_VECTORS(float)
#undef RUNG_METAL_VECTORS

namespace metal {
namespace detail {

/// How many components an argument of a vector's constructor gives.
template <class T>
struct Components {
  static constexpr int count = 1;
  static constexpr T at(T value, int) { return value; }
};
template <class T, int N>
struct Components<vec<T, N>> {
  static constexpr int count = N;
  static T at(vec<T, N> value, int i) { return value[i]; }
};

template <class V>
void fill(V&, int) {}
template <class V, class First, class... Rest>
void fill(V& vector, int from, First first, Rest... rest) {
  for (int i = 0; i < Components<First>::count; ++i) {
    vector[from + i] = static_cast<typename Element<V>::type>(Components<First>::at(first, i));
  }
  fill(vector, from + Components<First>::count, rest...);
}

template <class V, class Only>
V make(Only only) {
  V vector;
  for (int i = 0; i < Components<V>::count; ++i) {
    vector[i] = static_cast<typename Element<V>::type>(
        Components<Only>::at(only, Components<Only>::count == 1 ? 0 : i));
  }
  return vector;
}
template <class V, class First, class Second, class... Rest>
V make(First first, Second second, Rest... rest) {
  V vector;
  fill(vector, 0, first, second, rest...);
  return vector;
}

}  // namespace detail
}  // namespace metal

// Constructors of vectors, which clang's have not: int2(x, y), float4(xy, 0, 1), float4(0).
#define char2(...) metal::detail::make<char2>(__VA_ARGS__)
#define char3(...) metal::detail::make<char3>(__VA_ARGS__)
#define char4(...) metal::detail::make<char4>(__VA_ARGS__)
#define uchar2(...) metal::detail::make<uchar2>(__VA_ARGS__)
#define uchar3(...) metal::detail::make<uchar3>(__VA_ARGS__)
#define uchar4(...) metal::detail::make<uchar4>(__VA_ARGS__)
#define short2(...) metal::detail::make<short2>(__VA_ARGS__)
#define short3(...) metal::detail::make<short3>(__VA_ARGS__)
#define short4(...) metal::detail::make<short4>(__VA_ARGS__)
#define ushort2(...) metal::detail::make<ushort2>(__VA_ARGS__)
#define ushort3(...) metal::detail::make<ushort3>(__VA_ARGS__)
#define ushort4(...) metal::detail::make<ushort4>(__VA_ARGS__)
#define int2(...) metal::detail::make<int2>(__VA_ARGS__)
#define int3(...) metal::detail::make<int3>(__VA_ARGS__)
#define int4(...) metal::detail::make<int4>(__VA_ARGS__)
#define uint2(...) metal::detail::make<uint2>(__VA_ARGS__)
#define uint3(...) metal::detail::make<uint3>(__VA_ARGS__)
#define uint4(...) metal::detail::make<uint4>(__VA_ARGS__)
#define long2(...) metal::detail::make<long2>(__VA_ARGS__)
#define long3(...) metal::detail::make<long3>(__VA_ARGS__)
#define long4(...) metal::detail::make<long4>(__VA_ARGS__)
#define ulong2(...) metal::detail::make<ulong2>(__VA_ARGS__)
#define ulong3(...) metal::detail::make<ulong3>(__VA_ARGS__)
#define ulong4(...) metal::detail::make<ulong4>(__VA_ARGS__)
#define half2(...) metal::detail::make<half2>(__VA_ARGS__)
#define half3(...) metal::detail::make<half3>(__VA_ARGS__)
#define half4(...) metal::detail::make<half4>(__VA_ARGS__)
#define bfloat2(...) metal::detail::make<bfloat2>(__VA_ARGS__)
#define bfloat3(...) metal::detail::make<bfloat3>(__VA_ARGS__)
#define bfloat4(...) metal::detail::make<bfloat4>(__VA_ARGS__)
#define float2(...) metal::detail::make<float2>(__VA_ARGS__)
#define float3(...) metal::detail::make<float3>(__VA_ARGS__)
#define float4(...) metal::detail::make<float4>(__VA_ARGS__)
