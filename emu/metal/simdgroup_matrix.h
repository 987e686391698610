#pragma once
// <metal_simdgroup_matrix>: matrices of 8x8 elements, distributed over a simdgroup. Lane l holds two
// elements of a row: row 4 (l / 16) + (l / 2) % 4, columns 4 ((l / 8) % 2) + 2 (l % 2) and the next,
// as on Apple's GPUs. A product is one instruction of the virtual GPU
// (vgpu/engine/matrix/simdgroup_matrix.hpp).

namespace metal {
namespace rung_detail {

RUNG_METAL uint matrix_row(uint lane) { return (lane / 16) * 4 + (lane / 2) % 4; }
RUNG_METAL uint matrix_col(uint lane) { return (lane / 8) % 2 * 4 + lane % 2 * 2; }

}  // namespace rung_detail

template <class T, int Cols = 8, int Rows = 8>
struct simdgroup_matrix {
  static_assert(Cols == 8 && Rows == 8, "a simdgroup_matrix has 8 x 8 elements");
  using storage_type = vec<T, 2>;

  simdgroup_matrix() = default;
  /// A matrix with this value on the diagonal.
  RUNG_METAL explicit simdgroup_matrix(T value) {
    const uint lane = rung_detail::LaneIndex::get();
    const uint row = rung_detail::matrix_row(lane), col = rung_detail::matrix_col(lane);
    elements = storage_type{row == col ? value : T(0), row == col + 1 ? value : T(0)};
  }

  RUNG_METAL storage_type& thread_elements() { return elements; }
  RUNG_METAL const storage_type& thread_elements() const { return elements; }

  storage_type elements;
};

using simdgroup_float8x8 = simdgroup_matrix<float, 8, 8>;
using simdgroup_half8x8 = simdgroup_matrix<half, 8, 8>;
using simdgroup_bfloat8x8 = simdgroup_matrix<bfloat, 8, 8>;

template <class T, int Cols = 8, int Rows = 8>
RUNG_METAL simdgroup_matrix<T, Cols, Rows> make_filled_simdgroup_matrix(T value) {
  simdgroup_matrix<T, Cols, Rows> filled;
  filled.elements = vec<T, 2>{value, value};
  return filled;
}
template <class T, int Cols = 8, int Rows = 8>
RUNG_METAL simdgroup_matrix<T, Cols, Rows> make_diagonal_simdgroup_matrix(T value) {
  return simdgroup_matrix<T, Cols, Rows>(value);
}

namespace rung_detail {

/// Offset of this thread's i-th element from the matrix's first element, in elements.
RUNG_METAL ulong matrix_offset(uint i, ulong elements_per_row, ulong2 origin, bool transposed) {
  const uint lane = LaneIndex::get();
  const uint row = matrix_row(lane), col = matrix_col(lane) + i;
  return (origin.y + (transposed ? col : row)) * elements_per_row + origin.x +
         (transposed ? row : col);
}

template <class T>
RUNG_METAL uint word_of(simdgroup_matrix<T, 8, 8> a) {
  return __builtin_bit_cast(uint, a.elements);
}

}  // namespace rung_detail

#define RUNG_METAL_MATRIX_LOAD(space)                                                 \
  template <class T, class U>                                                         \
  RUNG_METAL void simdgroup_load(simdgroup_matrix<T, 8, 8>& d, const space U* from,   \
                                 ulong elements_per_row = 8, ulong2 origin = 0,       \
                                 bool transposed = false) {                           \
    T pair[2];                                                                        \
    for (uint i = 0; i < 2; ++i) {                                                    \
      pair[i] = static_cast<T>(                                                       \
          from[rung_detail::matrix_offset(i, elements_per_row, origin, transposed)]); \
    }                                                                                 \
    d.elements = vec<T, 2>{pair[0], pair[1]};                                         \
  }
#define RUNG_METAL_MATRIX_STORE(space)                                           \
  template <class T, class U>                                                    \
  RUNG_METAL void simdgroup_store(simdgroup_matrix<T, 8, 8> a, space U* to,      \
                                  ulong elements_per_row = 8, ulong2 origin = 0, \
                                  bool transposed = false) {                     \
    for (uint i = 0; i < 2; ++i) {                                               \
      to[rung_detail::matrix_offset(i, elements_per_row, origin, transposed)] =  \
          static_cast<U>(a.elements[i]);                                         \
    }                                                                            \
  }
RUNG_METAL_MATRIX_LOAD(device)
RUNG_METAL_MATRIX_LOAD(threadgroup)
RUNG_METAL_MATRIX_LOAD(constant)
RUNG_METAL_MATRIX_STORE(device)
RUNG_METAL_MATRIX_STORE(threadgroup)
#undef RUNG_METAL_MATRIX_LOAD
#undef RUNG_METAL_MATRIX_STORE

namespace rung_detail {

RUNG_METAL simdgroup_float8x8 multiply_accumulate(simdgroup_float8x8 a, simdgroup_float8x8 b,
                                                  simdgroup_float8x8 c) {
  float x, y;
  asm("mma.simdgroup.f32.f32.f32.f32 {%0, %1}, {%2, %3}, {%4, %5}, {%6, %7};"
      : "=f"(x), "=f"(y)
      : "f"(a.elements[0]), "f"(a.elements[1]), "f"(b.elements[0]), "f"(b.elements[1]),
        "f"(c.elements[0]), "f"(c.elements[1]));
  simdgroup_float8x8 d;
  d.elements = float2{x, y};
  return d;
}
#define RUNG_METAL_MATRIX_PRODUCT(T, type)                                              \
  RUNG_METAL simdgroup_float8x8 multiply_accumulate(                                    \
      simdgroup_matrix<T, 8, 8> a, simdgroup_matrix<T, 8, 8> b, simdgroup_float8x8 c) { \
    float x, y;                                                                         \
    asm("mma.simdgroup.f32." type "." type ".f32 {%0, %1}, {%2}, {%3}, {%4, %5};"       \
        : "=f"(x), "=f"(y)                                                              \
        : "r"(word_of(a)), "r"(word_of(b)), "f"(c.elements[0]), "f"(c.elements[1]));    \
    simdgroup_float8x8 d;                                                               \
    d.elements = float2{x, y};                                                          \
    return d;                                                                           \
  }
RUNG_METAL_MATRIX_PRODUCT(half, "f16")
RUNG_METAL_MATRIX_PRODUCT(bfloat, "bf16")
#undef RUNG_METAL_MATRIX_PRODUCT

template <class To, class From>
RUNG_METAL simdgroup_matrix<To, 8, 8> converted(simdgroup_matrix<From, 8, 8> a) {
  simdgroup_matrix<To, 8, 8> result;
  result.elements = vec<To, 2>{static_cast<To>(a.elements[0]), static_cast<To>(a.elements[1])};
  return result;
}

}  // namespace rung_detail

/// D = A * B + C. Sums are float, and rounded once for a narrower D.
template <class D, class A, class B, class C>
RUNG_METAL void simdgroup_multiply_accumulate(simdgroup_matrix<D, 8, 8>& d,
                                              simdgroup_matrix<A, 8, 8> a,
                                              simdgroup_matrix<B, 8, 8> b,
                                              simdgroup_matrix<C, 8, 8> c) {
  const auto sum = rung_detail::converted<float>(c);
  if constexpr (is_same_v<A, B>) {
    d = rung_detail::converted<D>(rung_detail::multiply_accumulate(a, b, sum));
  } else {
    d = rung_detail::converted<D>(rung_detail::multiply_accumulate(
        rung_detail::converted<float>(a), rung_detail::converted<float>(b), sum));
  }
}

template <class D, class A, class B>
RUNG_METAL void simdgroup_multiply(simdgroup_matrix<D, 8, 8>& d, simdgroup_matrix<A, 8, 8> a,
                                   simdgroup_matrix<B, 8, 8> b) {
  simdgroup_multiply_accumulate(d, a, b, make_filled_simdgroup_matrix<D, 8, 8>(D(0)));
}
template <class A, class B>
RUNG_METAL simdgroup_matrix<A, 8, 8> operator*(simdgroup_matrix<A, 8, 8> a,
                                               simdgroup_matrix<B, 8, 8> b) {
  simdgroup_matrix<A, 8, 8> d;
  simdgroup_multiply(d, a, b);
  return d;
}

}  // namespace metal
