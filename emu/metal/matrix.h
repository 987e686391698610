#pragma once
// <metal_matrix>: column by column.

namespace metal {

namespace rung_detail {

/// The type of a parameter that constructors of other matrices have.
template <int columns>
struct Absent {
  int value;
};

template <class T, int R, size_t... r>
RUNG_METAL constexpr vec<T, R> diagonal_column(T value, size_t c, index_sequence<r...>) {
  return vec<T, R>{(r == c ? value : T(0))...};
}
template <class T, int R, size_t... r>
RUNG_METAL constexpr vec<T, R> column_of(const T* elements, index_sequence<r...>) {
  return vec<T, R>{elements[r]...};
}

/// A column as an argument: a vector, or a list in braces.
template <class T, int R>
struct Column {
  vec<T, R> value;

  template <class V, class = enable_if_t<Components<V>::count == R>>
  RUNG_METAL constexpr Column(V v) : value(make<vec<T, R>>(v)) {}
  template <class... S, class = enable_if_t<sizeof...(S) == R && (R > 1)>, class = void>
  RUNG_METAL constexpr Column(S... elements) : value{static_cast<T>(elements)...} {}
};

}  // namespace rung_detail

template <class T, int C, int R>
struct matrix {
  vec<T, R> columns[C];

  matrix() = default;
  /// The value on the diagonal.
  RUNG_METAL constexpr explicit matrix(T value) : matrix(value, make_index_sequence<C>()) {}
  template <class U>
  RUNG_METAL constexpr explicit matrix(const matrix<U, C, R>& other)
      : matrix(other, make_index_sequence<C>()) {}

  using Column = rung_detail::Column<T, R>;
  template <int N>
  using Last = conditional_t<C == N, Column, rung_detail::Absent<N>>;
  RUNG_METAL constexpr matrix(Column a, Last<2> b) : columns{a.value, b.value} {}
  RUNG_METAL constexpr matrix(Column a, Column b, Last<3> c) : columns{a.value, b.value, c.value} {}
  RUNG_METAL constexpr matrix(Column a, Column b, Column c, Last<4> d)
      : columns{a.value, b.value, c.value, d.value} {}

  /// {{{1, 2}, {3, 4}}}: a list of all columns as one argument.
  RUNG_METAL constexpr matrix(const Column (&all)[C]) : matrix(all, make_index_sequence<C>()) {}

  /// The elements, column by column.
  template <class... A, class = enable_if_t<sizeof...(A) + 2 == C * R && (is_scalar_v<A> && ...)>>
  RUNG_METAL constexpr matrix(T a, T b, A... rest)
      : matrix(Elements{{a, b, static_cast<T>(rest)...}}, make_index_sequence<C>()) {}

  RUNG_METAL vec<T, R>& operator[](int c) { return columns[c]; }
  RUNG_METAL const vec<T, R>& operator[](int c) const { return columns[c]; }
  RUNG_METAL matrix& operator+=(const matrix& o) { return *this = *this + o; }
  RUNG_METAL matrix& operator-=(const matrix& o) { return *this = *this - o; }
  RUNG_METAL matrix& operator*=(T s) { return *this = *this * s; }
  RUNG_METAL matrix& operator/=(T s) { return *this = *this / s; }
  RUNG_METAL matrix& operator*=(const matrix& o) { return *this = *this * o; }

 private:
  struct Elements {
    T all[C * R];
  };
  template <size_t... c>
  RUNG_METAL constexpr matrix(T value, index_sequence<c...>)
      : columns{rung_detail::diagonal_column<T, R>(value, c, make_index_sequence<R>())...} {}
  template <class U, size_t... c>
  RUNG_METAL constexpr matrix(const matrix<U, C, R>& other, index_sequence<c...>)
      : columns{rung_detail::make<vec<T, R>>(other.columns[c])...} {}
  template <size_t... c>
  RUNG_METAL constexpr matrix(const Column (&all)[C], index_sequence<c...>)
      : columns{all[c].value...} {}
  template <size_t... c>
  RUNG_METAL constexpr matrix(const Elements& elements, index_sequence<c...>)
      : columns{rung_detail::column_of<T, R>(elements.all + c * R, make_index_sequence<R>())...} {}
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
template <class T, int C, int R, class S, class = enable_if_t<is_scalar_v<S>>>
RUNG_METAL matrix<T, C, R> operator/(const matrix<T, C, R>& a, S s) {
  matrix<T, C, R> result;
  for (int c = 0; c < C; ++c) result.columns[c] = a.columns[c] / static_cast<T>(s);
  return result;
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
