#pragma once
// Apple's <simd/simd.h> for host code: vectors of clang, matrices by columns, and the functions that programs
// with structures for kernels use.

#include <math.h>

#define RUNG_SIMD_VECTORS(T, name)                                                         \
  typedef T simd_##name##1;                                                                \
  typedef T simd_##name##2 __attribute__((ext_vector_type(2)));                            \
  typedef T simd_##name##3 __attribute__((ext_vector_type(3)));                            \
  typedef T simd_##name##4 __attribute__((ext_vector_type(4)));                            \
  typedef simd_##name##2 vector_##name##2;                                                 \
  typedef simd_##name##3 vector_##name##3;                                                 \
  typedef simd_##name##4 vector_##name##4;                                                 \
  typedef T simd_packed_##name##2 __attribute__((ext_vector_type(2), aligned(sizeof(T)))); \
  typedef T simd_packed_##name##4 __attribute__((ext_vector_type(4), aligned(sizeof(T))));
#define RUNG_SIMD_FOR_EACH_SCALAR(F) \
  F(signed char, char)               \
  F(unsigned char, uchar)            \
  F(short, short)                    \
  F(unsigned short, ushort)          \
  F(int, int)                        \
  F(unsigned, uint)                  \
  F(long, long) F(unsigned long, ulong) F(_Float16, half) F(float, float) F(double, double)
RUNG_SIMD_FOR_EACH_SCALAR(RUNG_SIMD_VECTORS)
#undef RUNG_SIMD_VECTORS

#define RUNG_SIMD_MATRIX(T, columns_, rows) \
  typedef struct {                          \
    simd_##T##rows columns[columns_];       \
  } simd_##T##columns_##x##rows;            \
  typedef simd_##T##columns_##x##rows matrix_##T##columns_##x##rows;
// clang-format off
#define RUNG_SIMD_MATRICES(T) \
  RUNG_SIMD_MATRIX(T, 2, 2) \
  RUNG_SIMD_MATRIX(T, 2, 3) \
  RUNG_SIMD_MATRIX(T, 2, 4) \
  RUNG_SIMD_MATRIX(T, 3, 2) \
  RUNG_SIMD_MATRIX(T, 3, 3) \
  RUNG_SIMD_MATRIX(T, 3, 4) \
  RUNG_SIMD_MATRIX(T, 4, 2) \
  RUNG_SIMD_MATRIX(T, 4, 3) \
  RUNG_SIMD_MATRIX(T, 4, 4)
// clang-format on
RUNG_SIMD_MATRICES(half)
RUNG_SIMD_MATRICES(float)
RUNG_SIMD_MATRICES(double)
#undef RUNG_SIMD_MATRICES
#undef RUNG_SIMD_MATRIX

#ifdef __cplusplus
#define RUNG_SIMD_MAKE(T, name)                                                                   \
  inline simd_##name##2 simd_make_##name##2(T x, T y) { return {x, y}; }                          \
  inline simd_##name##2 simd_make_##name##2(simd_##name##3 v) { return v.xy; }                    \
  inline simd_##name##2 simd_make_##name##2(simd_##name##4 v) { return v.xy; }                    \
  inline simd_##name##3 simd_make_##name##3(T x, T y, T z) { return {x, y, z}; }                  \
  inline simd_##name##3 simd_make_##name##3(simd_##name##2 v, T z) { return {v.x, v.y, z}; }      \
  inline simd_##name##3 simd_make_##name##3(simd_##name##4 v) { return v.xyz; }                   \
  inline simd_##name##4 simd_make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }          \
  inline simd_##name##4 simd_make_##name##4(simd_##name##3 v, T w) { return {v.x, v.y, v.z, w}; } \
  namespace simd {                                                                                \
  using name##2 = simd_##name##2;                                                                 \
  using name##3 = simd_##name##3;                                                                 \
  using name##4 = simd_##name##4;                                                                 \
  using packed_##name##2 = simd_packed_##name##2;                                                 \
  using packed_##name##4 = simd_packed_##name##4;                                                 \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }                                      \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                              \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }                      \
  }
RUNG_SIMD_FOR_EACH_SCALAR(RUNG_SIMD_MAKE)
#undef RUNG_SIMD_MAKE

namespace rung_simd {
template <class T, int N>
using Vector = T __attribute__((ext_vector_type(N)));

/// The inverse of a square matrix of N columns, by elimination. Not finite if it has none.
template <int N, class Matrix>
Matrix inverse(Matrix m) {
  Matrix result{};
  for (int i = 0; i < N; ++i) result.columns[i][i] = 1;
  for (int step = 0; step < N; ++step) {
    int pivot = step;
    for (int i = step + 1; i < N; ++i) {
      const auto size = [&](int column) {
        return m.columns[column][step] < 0 ? -m.columns[column][step] : m.columns[column][step];
      };
      if (size(i) > size(pivot)) pivot = i;
    }
    const auto swap = [&](Matrix& matrix) {
      const auto column = matrix.columns[step];
      matrix.columns[step] = matrix.columns[pivot];
      matrix.columns[pivot] = column;
    };
    swap(m);
    swap(result);
    const auto divisor = m.columns[step][step];
    m.columns[step] /= divisor;
    result.columns[step] /= divisor;
    for (int i = 0; i < N; ++i) {
      if (i == step) continue;
      const auto factor = m.columns[i][step];
      m.columns[i] -= factor * m.columns[step];
      result.columns[i] -= factor * result.columns[step];
    }
  }
  return result;
}
}  // namespace rung_simd

// The vectors of float and double.
#define RUNG_SIMD_REAL(T, N)                                                                      \
  inline T simd_reduce_add(rung_simd::Vector<T, N> v) {                                           \
    T sum = 0;                                                                                    \
    for (int i = 0; i < N; ++i) sum += v[i];                                                      \
    return sum;                                                                                   \
  }                                                                                               \
  inline T simd_dot(rung_simd::Vector<T, N> a, rung_simd::Vector<T, N> b) {                       \
    return simd_reduce_add(a * b);                                                                \
  }                                                                                               \
  inline T simd_length_squared(rung_simd::Vector<T, N> v) { return simd_dot(v, v); }              \
  inline T simd_length(rung_simd::Vector<T, N> v) {                                               \
    return static_cast<T>(::sqrt(static_cast<double>(simd_dot(v, v))));                           \
  }                                                                                               \
  inline T simd_distance(rung_simd::Vector<T, N> a, rung_simd::Vector<T, N> b) {                  \
    return simd_length(a - b);                                                                    \
  }                                                                                               \
  inline rung_simd::Vector<T, N> simd_normalize(rung_simd::Vector<T, N> v) {                      \
    return v / simd_length(v);                                                                    \
  }                                                                                               \
  inline rung_simd::Vector<T, N> simd_min(rung_simd::Vector<T, N> a, rung_simd::Vector<T, N> b) { \
    for (int i = 0; i < N; ++i) a[i] = b[i] < a[i] ? b[i] : a[i];                                 \
    return a;                                                                                     \
  }                                                                                               \
  inline rung_simd::Vector<T, N> simd_max(rung_simd::Vector<T, N> a, rung_simd::Vector<T, N> b) { \
    for (int i = 0; i < N; ++i) a[i] = a[i] < b[i] ? b[i] : a[i];                                 \
    return a;                                                                                     \
  }                                                                                               \
  inline rung_simd::Vector<T, N> simd_clamp(                                                      \
      rung_simd::Vector<T, N> v, rung_simd::Vector<T, N> low, rung_simd::Vector<T, N> high) {     \
    return simd_min(simd_max(v, low), high);                                                      \
  }                                                                                               \
  inline rung_simd::Vector<T, N> simd_mix(rung_simd::Vector<T, N> a, rung_simd::Vector<T, N> b,   \
                                          rung_simd::Vector<T, N> t) {                            \
    return a + (b - a) * t;                                                                       \
  }                                                                                               \
  inline rung_simd::Vector<T, N> simd_abs(rung_simd::Vector<T, N> v) { return simd_max(v, -v); }
// Square matrices of N columns.
#define RUNG_SIMD_SQUARE(T, N)                                                                    \
  inline simd_##T##N simd_mul(simd_##T##N##x##N m, simd_##T##N v) {                               \
    simd_##T##N sum = m.columns[0] * v[0];                                                        \
    for (int i = 1; i < N; ++i) sum += m.columns[i] * v[i];                                       \
    return sum;                                                                                   \
  }                                                                                               \
  inline simd_##T##N##x##N simd_mul(simd_##T##N##x##N a, simd_##T##N##x##N b) {                   \
    simd_##T##N##x##N product;                                                                    \
    for (int i = 0; i < N; ++i) product.columns[i] = simd_mul(a, b.columns[i]);                   \
    return product;                                                                               \
  }                                                                                               \
  inline simd_##T##N##x##N simd_transpose(simd_##T##N##x##N m) {                                  \
    simd_##T##N##x##N other;                                                                      \
    for (int i = 0; i < N; ++i) {                                                                 \
      for (int j = 0; j < N; ++j) other.columns[i][j] = m.columns[j][i];                          \
    }                                                                                             \
    return other;                                                                                 \
  }                                                                                               \
  template <class B>                                                                              \
  auto matrix_multiply(simd_##T##N##x##N a, B b) {                                                \
    return simd_mul(a, b);                                                                        \
  }                                                                                               \
  inline simd_##T##N##x##N matrix_transpose(simd_##T##N##x##N m) { return simd_transpose(m); }    \
  inline simd_##T##N##x##N simd_inverse(simd_##T##N##x##N m) { return rung_simd::inverse<N>(m); } \
  inline simd_##T##N##x##N matrix_invert(simd_##T##N##x##N m) { return simd_inverse(m); }
#define RUNG_SIMD_REALS(T) \
  RUNG_SIMD_REAL(T, 2)     \
  RUNG_SIMD_REAL(T, 3)     \
  RUNG_SIMD_REAL(T, 4) RUNG_SIMD_SQUARE(T, 2) RUNG_SIMD_SQUARE(T, 3) RUNG_SIMD_SQUARE(T, 4)
RUNG_SIMD_REALS(float)
RUNG_SIMD_REALS(double)
#undef RUNG_SIMD_REALS
#undef RUNG_SIMD_SQUARE
#undef RUNG_SIMD_REAL

inline simd_float3 simd_cross(simd_float3 a, simd_float3 b) {
  return a.yzx * b.zxy - a.zxy * b.yzx;
}
inline simd_double3 simd_cross(simd_double3 a, simd_double3 b) {
  return a.yzx * b.zxy - a.zxy * b.yzx;
}
// Matrices of their columns or rows.
#define RUNG_SIMD_MATRICES(T)                                                                    \
  inline simd_##T##2x2 simd_matrix(simd_##T##2 a, simd_##T##2 b) { return {{a, b}}; }            \
  inline simd_##T##3x3 simd_matrix(simd_##T##3 a, simd_##T##3 b, simd_##T##3 c) {                \
    return {{a, b, c}};                                                                          \
  }                                                                                              \
  inline simd_##T##4x4 simd_matrix(simd_##T##4 a, simd_##T##4 b, simd_##T##4 c, simd_##T##4 d) { \
    return {{a, b, c, d}};                                                                       \
  }
RUNG_SIMD_MATRICES(float)
RUNG_SIMD_MATRICES(double)
#undef RUNG_SIMD_MATRICES
template <class... Rows>
auto simd_matrix_from_rows(Rows... rows) {
  return simd_transpose(simd_matrix(rows...));
}
template <class... Rows>
auto matrix_from_rows(Rows... rows) {
  return simd_matrix_from_rows(rows...);
}
template <class... Columns>
auto matrix_from_columns(Columns... columns) {
  return simd_matrix(columns...);
}
constexpr simd_float2x2 matrix_identity_float2x2 = {{{1, 0}, {0, 1}}};
constexpr simd_float3x3 matrix_identity_float3x3 = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr simd_float4x4 matrix_identity_float4x4 = {
    {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};

namespace simd {
using float2x2 = simd_float2x2;
using float3x3 = simd_float3x3;
using float4x4 = simd_float4x4;
using double2x2 = simd_double2x2;
using double3x3 = simd_double3x3;
using double4x4 = simd_double4x4;
#define RUNG_SIMD_FUNCTION(name)      \
  template <class... A>               \
  auto name(A... arguments) {         \
    return simd_##name(arguments...); \
  }
RUNG_SIMD_FUNCTION(dot)
RUNG_SIMD_FUNCTION(length)
RUNG_SIMD_FUNCTION(length_squared)
RUNG_SIMD_FUNCTION(distance)
RUNG_SIMD_FUNCTION(normalize)
RUNG_SIMD_FUNCTION(cross)
RUNG_SIMD_FUNCTION(min)
RUNG_SIMD_FUNCTION(max)
RUNG_SIMD_FUNCTION(clamp)
RUNG_SIMD_FUNCTION(mix)
RUNG_SIMD_FUNCTION(abs)
RUNG_SIMD_FUNCTION(transpose)
RUNG_SIMD_FUNCTION(inverse)
#undef RUNG_SIMD_FUNCTION
}  // namespace simd

inline simd_float4 operator*(simd_float4x4 m, simd_float4 v) { return simd_mul(m, v); }
inline simd_float4x4 operator*(simd_float4x4 a, simd_float4x4 b) { return simd_mul(a, b); }
inline simd_float3 operator*(simd_float3x3 m, simd_float3 v) { return simd_mul(m, v); }
inline simd_float3x3 operator*(simd_float3x3 a, simd_float3x3 b) { return simd_mul(a, b); }
#endif
#undef RUNG_SIMD_FOR_EACH_SCALAR
