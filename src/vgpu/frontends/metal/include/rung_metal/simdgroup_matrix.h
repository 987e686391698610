#pragma once
// Matrices of 8x8 elements that a simdgroup holds together. Which thread holds which element is
// not specified; here thread i has the elements 2 i and 2 i + 1, row by row. Products are one
// instruction of the virtual GPU (src/vgpu/engine/matrix/simdgroup_matrix.hpp).

namespace metal {

template <class T, int Cols, int Rows>
struct simdgroup_matrix {
  static_assert(Cols == 8 && Rows == 8, "a simdgroup_matrix has 8 x 8 elements");

  simdgroup_matrix() = default;
  /// With this value on the diagonal.
  explicit simdgroup_matrix(T value) {
    const uint lane = detail::LaneIndex::get();
    const uint row = lane / 4, col = lane % 4 * 2;
    rung_elements[0] = row == col ? value : T(0);
    rung_elements[1] = row == col + 1 ? value : T(0);
  }

  T rung_elements[2];
};

using simdgroup_float8x8 = simdgroup_matrix<float, 8, 8>;
using simdgroup_half8x8 = simdgroup_matrix<half, 8, 8>;
using simdgroup_bfloat8x8 = simdgroup_matrix<bfloat, 8, 8>;

template <class T, int Cols, int Rows>
simdgroup_matrix<T, Cols, Rows> make_filled_simdgroup_matrix(T value) {
  simdgroup_matrix<T, Cols, Rows> filled;
  filled.rung_elements[0] = filled.rung_elements[1] = value;
  return filled;
}

namespace detail {

/// How far from the matrix's first element this thread's i-th one lies.
inline ulong matrix_offset(uint i, ulong elements_per_row, ulong2 origin, bool transposed) {
  const uint lane = LaneIndex::get();
  const uint row = lane / 4, col = lane % 4 * 2 + i;
  return (origin.y + (transposed ? col : row)) * elements_per_row + origin.x +
         (transposed ? row : col);
}

inline uint word_of(const half (&pair)[2]) {
  return as_type<ushort>(pair[0]) | static_cast<uint>(as_type<ushort>(pair[1])) << 16;
}
inline uint word_of(const bfloat (&pair)[2]) {
  return as_type<ushort>(pair[0]) | static_cast<uint>(as_type<ushort>(pair[1])) << 16;
}

}  // namespace detail

#define RUNG_METAL_MATRIX_MEMORY(space)                                                          \
  template <class T>                                                                             \
  void simdgroup_load(simdgroup_matrix<T, 8, 8>& d, const space T* from,                         \
                      ulong elements_per_row = 8, ulong2 origin = 0, bool transposed = false) {  \
    for (uint i = 0; i < 2; ++i) {                                                               \
      d.rung_elements[i] = from[detail::matrix_offset(i, elements_per_row, origin, transposed)]; \
    }                                                                                            \
  }                                                                                              \
  template <class T>                                                                             \
  void simdgroup_store(simdgroup_matrix<T, 8, 8> a, space T* to, ulong elements_per_row = 8,     \
                       ulong2 origin = 0, bool transposed = false) {                             \
    for (uint i = 0; i < 2; ++i) {                                                               \
      to[detail::matrix_offset(i, elements_per_row, origin, transposed)] = a.rung_elements[i];   \
    }                                                                                            \
  }
RUNG_METAL_MATRIX_MEMORY(device)
RUNG_METAL_MATRIX_MEMORY(threadgroup)
#undef RUNG_METAL_MATRIX_MEMORY

/// D = A * B + C.
inline void simdgroup_multiply_accumulate(simdgroup_float8x8& d, simdgroup_float8x8 a,
                                          simdgroup_float8x8 b, simdgroup_float8x8 c) {
  asm("mma.simdgroup.f32.f32.f32.f32 {%0, %1}, {%2, %3}, {%4, %5}, {%6, %7};"
      : "=f"(d.rung_elements[0]), "=f"(d.rung_elements[1])
      : "f"(a.rung_elements[0]), "f"(a.rung_elements[1]), "f"(b.rung_elements[0]),
        "f"(b.rung_elements[1]), "f"(c.rung_elements[0]), "f"(c.rung_elements[1]));
}
inline void simdgroup_multiply_accumulate(simdgroup_float8x8& d, simdgroup_half8x8 a,
                                          simdgroup_half8x8 b, simdgroup_float8x8 c) {
  asm("mma.simdgroup.f32.f16.f16.f32 {%0, %1}, {%2}, {%3}, {%4, %5};"
      : "=f"(d.rung_elements[0]), "=f"(d.rung_elements[1])
      : "r"(detail::word_of(a.rung_elements)), "r"(detail::word_of(b.rung_elements)),
        "f"(c.rung_elements[0]), "f"(c.rung_elements[1]));
}
inline void simdgroup_multiply_accumulate(simdgroup_float8x8& d, simdgroup_bfloat8x8 a,
                                          simdgroup_bfloat8x8 b, simdgroup_float8x8 c) {
  asm("mma.simdgroup.f32.bf16.bf16.f32 {%0, %1}, {%2}, {%3}, {%4, %5};"
      : "=f"(d.rung_elements[0]), "=f"(d.rung_elements[1])
      : "r"(detail::word_of(a.rung_elements)), "r"(detail::word_of(b.rung_elements)),
        "f"(c.rung_elements[0]), "f"(c.rung_elements[1]));
}

template <class A, class D>
void simdgroup_multiply(simdgroup_matrix<D, 8, 8>& d, simdgroup_matrix<A, 8, 8> a,
                        simdgroup_matrix<A, 8, 8> b) {
  simdgroup_multiply_accumulate(d, a, b, make_filled_simdgroup_matrix<D, 8, 8>(D(0)));
}

}  // namespace metal
