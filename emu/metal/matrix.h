#pragma once
// <metal_matrix>: column by column.

namespace metal {

template <class T, int C, int R>
struct matrix {
  vec<T, R> columns[C];

  matrix() = default;
  /// The value on the diagonal.
  RUNG_METAL explicit matrix(T value) {
    for (int c = 0; c < C; ++c) {
      for (int r = 0; r < R; ++r) columns[c][r] = c == r ? value : T(0);
    }
  }
  template <class U>
  RUNG_METAL explicit matrix(const matrix<U, C, R>& other) {
    for (int c = 0; c < C; ++c) columns[c] = detail::make<vec<T, R>>(other.columns[c]);
  }
  template <class... A, class = enable_if_t<sizeof...(A) + 1 == C>>
  RUNG_METAL matrix(vec<T, R> first, A... rest)
      : columns{first, detail::make<vec<T, R>>(rest)...} {}
  template <class... A, class = enable_if_t<sizeof...(A) + 2 == C * R>, class = void>
  RUNG_METAL matrix(T a, T b, A... rest) {
    const T all[] = {a, b, static_cast<T>(rest)...};
    for (int c = 0; c < C; ++c) {
      for (int r = 0; r < R; ++r) columns[c][r] = all[c * R + r];
    }
  }

  RUNG_METAL vec<T, R>& operator[](int c) { return columns[c]; }
  RUNG_METAL const vec<T, R>& operator[](int c) const { return columns[c]; }
  RUNG_METAL matrix& operator+=(const matrix& o) { return *this = *this + o; }
  RUNG_METAL matrix& operator-=(const matrix& o) { return *this = *this - o; }
  RUNG_METAL matrix& operator*=(T s) { return *this = *this * s; }
  RUNG_METAL matrix& operator*=(const matrix& o) { return *this = *this * o; }
};

#define RUNG_METAL_MATRIX_OPERATOR(op)                                                         \
  template <class T, int C, int R>                                                             \
  RUNG_METAL matrix<T, C, R> operator op(const matrix<T, C, R>& a, const matrix<T, C, R>& b) { \
    matrix<T, C, R> result;                                                                    \
    for (int c = 0; c < C; ++c) result.columns[c] = a.columns[c] op b.columns[c];              \
    return result;                                                                             \
  }
RUNG_METAL_MATRIX_OPERATOR(+)
RUNG_METAL_MATRIX_OPERATOR(-)
#undef RUNG_METAL_MATRIX_OPERATOR
template <class T, int C, int R>
RUNG_METAL matrix<T, C, R> operator-(const matrix<T, C, R>& a) {
  return a * T(-1);
}
template <class T, int C, int R, class S, class = enable_if_t<is_scalar_v<S>>>
RUNG_METAL matrix<T, C, R> operator*(const matrix<T, C, R>& a, S s) {
  matrix<T, C, R> result;
  for (int c = 0; c < C; ++c) result.columns[c] = a.columns[c] * static_cast<T>(s);
  return result;
}
template <class T, int C, int R, class S, class = enable_if_t<is_scalar_v<S>>>
RUNG_METAL matrix<T, C, R> operator*(S s, const matrix<T, C, R>& a) {
  return a * s;
}
template <class T, int C, int R>
RUNG_METAL vec<T, R> operator*(const matrix<T, C, R>& a, vec<T, C> v) {
  vec<T, R> result = a.columns[0] * v[0];
  for (int c = 1; c < C; ++c) result += a.columns[c] * v[c];
  return result;
}
template <class T, int C, int R>
RUNG_METAL vec<T, R> operator*(const matrix<T, C, R>& a, packed_vec<T, C> v) {
  return a * vec<T, C>(v);
}
template <class T, int C, int R>
RUNG_METAL vec<T, C> operator*(vec<T, R> v, const matrix<T, C, R>& a) {
  vec<T, C> result;
  for (int c = 0; c < C; ++c) result[c] = dot(v, a.columns[c]);
  return result;
}
template <class T, int C, int R, int K>
RUNG_METAL matrix<T, K, R> operator*(const matrix<T, C, R>& a, const matrix<T, K, C>& b) {
  matrix<T, K, R> result;
  for (int k = 0; k < K; ++k) result.columns[k] = a * b.columns[k];
  return result;
}
template <class T, int C, int R>
RUNG_METAL bool operator==(const matrix<T, C, R>& a, const matrix<T, C, R>& b) {
  for (int c = 0; c < C; ++c) {
    if (!all(a.columns[c] == b.columns[c])) return false;
  }
  return true;
}
template <class T, int C, int R>
RUNG_METAL matrix<T, R, C> transpose(const matrix<T, C, R>& a) {
  matrix<T, R, C> result;
  for (int c = 0; c < C; ++c) {
    for (int r = 0; r < R; ++r) result.columns[r][c] = a.columns[c][r];
  }
  return result;
}

template <class T>
RUNG_METAL T determinant(const matrix<T, 2, 2>& a) {
  return a[0][0] * a[1][1] - a[0][1] * a[1][0];
}
template <class T>
RUNG_METAL T determinant(const matrix<T, 3, 3>& a) {
  return dot(a[0], cross(a[1], a[2]));
}
template <class T>
RUNG_METAL T determinant(const matrix<T, 4, 4>& a) {
  T sum = 0;
  for (int skipped = 0; skipped < 4; ++skipped) {
    matrix<T, 3, 3> minor;
    for (int c = 1; c < 4; ++c) {
      int to = 0;
      for (int r = 0; r < 4; ++r) {
        if (r != skipped) minor[c - 1][to++] = a[c][r];
      }
    }
    sum += (skipped % 2 == 0 ? a[0][skipped] : -a[0][skipped]) * determinant(minor);
  }
  return sum;
}

}  // namespace metal

#define RUNG_METAL_MATRIX(T, C, R)           \
  using T##C##x##R = metal::matrix<T, C, R>; \
  namespace metal {                          \
  using ::T##C##x##R;                        \
  }
// clang-format off: it does not come to rest on macros that follow each other.
#define RUNG_METAL_MATRICES(T) \
  RUNG_METAL_MATRIX(T, 2, 2) RUNG_METAL_MATRIX(T, 2, 3) RUNG_METAL_MATRIX(T, 2, 4) \
  RUNG_METAL_MATRIX(T, 3, 2) RUNG_METAL_MATRIX(T, 3, 3) RUNG_METAL_MATRIX(T, 3, 4) \
  RUNG_METAL_MATRIX(T, 4, 2) RUNG_METAL_MATRIX(T, 4, 3) RUNG_METAL_MATRIX(T, 4, 4)
// clang-format on
RUNG_METAL_MATRICES(float)
RUNG_METAL_MATRICES(half)
RUNG_METAL_MATRICES(bfloat)
#undef RUNG_METAL_MATRICES
#undef RUNG_METAL_MATRIX
