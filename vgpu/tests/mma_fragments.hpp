#pragma once
// The position of each element in mma.sync's fragments, as the PTX ISA states it for each shape
// (9.7.14.5): element i of lane 4 * group + thread.

#include "vgpu/engine/matrix/wmma_layout.hpp"
#include "vgpu/model/matrix_form.hpp"

namespace rung::vgpu::matrix_tests {

/// Element a_i of A.
inline MatrixPlace place_in_a(const MatrixForm& form, int lane, int i) {
  const int group = lane >> 2, thread = lane % 4;
  const int m = form.m, k = form.k;
  switch (element_bits(form.a)) {
    case 64:
      if (m == 8) return {group, thread};
      if (k == 4) return {i == 0 ? group : group + 8, thread};
      if (k == 8) return {i == 0 || i == 2 ? group : group + 8, i < 2 ? thread : thread + 4};
      return {i % 2 == 0 ? group : group + 8, i % 2 == 0 ? i * 2 + thread : i * 2 - 2 + thread};
    case 32:
      if (k == 4) return {i == 0 ? group : group + 8, thread};
      return {i == 0 || i == 2 ? group : group + 8, i < 2 ? thread : thread + 4};
    case 16:
      if (k == 8) return {i < 2 ? group : group + 8, thread * 2 + (i & 1)};
      return {i < 2 || (4 <= i && i < 6) ? group : group + 8,
              i < 4 ? thread * 2 + (i & 1) : thread * 2 + (i & 1) + 8};
    case 8:
      if (m == 8) return {group, thread * 4 + i};
      if (k == 16) return {i < 4 ? group : group + 8, thread * 4 + (i & 3)};
      return {i < 4 || (8 <= i && i < 12) ? group : group + 8,
              i < 8 ? thread * 4 + (i & 3) : thread * 4 + (i & 3) + 16};
    default:
      if (m == 8) return {group, thread * 8 + i};
      if (k == 32) return {i < 8 ? group : group + 8, thread * 8 + (i & 7)};
      return {i < 8 || (16 <= i && i < 24) ? group : group + 8,
              i < 16 ? thread * 8 + (i & 7) : thread * 8 + (i & 7) + 32};
  }
}

/// Element b_i of B.
inline MatrixPlace place_in_b(const MatrixForm& form, int lane, int i) {
  const int group = lane >> 2, thread = lane % 4;
  switch (element_bits(form.b)) {
    case 64: return {form.k == 16 ? thread + i * 4 : i == 0 ? thread : thread + 4, group};
    case 32: return {i == 0 ? thread : thread + 4, group};
    case 16: return {i < 2 ? thread * 2 + (i & 1) : thread * 2 + (i & 1) + 8, group};
    case 8: return {i < 4 ? thread * 4 + (i & 3) : thread * 4 + (i & 3) + 16, group};
    default: return {i < 8 ? thread * 8 + (i & 7) : thread * 8 + (i & 7) + 32, group};
  }
}

/// Element c_i of C, d_i of D.
inline MatrixPlace place_in_c(const MatrixForm&, int lane, int i) {
  return {i < 2 ? lane >> 2 : (lane >> 2) + 8, (lane % 4) * 2 + (i & 1)};
}

}  // namespace rung::vgpu::matrix_tests
