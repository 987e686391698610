#pragma once
// Packs a block of a matrix of any layout and element type into a panel for the micro-kernels.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "core/problem.hpp"
#include "device/cpu/micro_kernels.hpp"
#include "device/cpu/widen.hpp"

namespace rung::cpu {

/// Elements per cache line. Align panels of B to cache lines, so that loads do not cross lines.
template <class T>
inline constexpr std::int64_t line = 64 / sizeof(T);

namespace detail {

/// Packs 16-bit elements as floats.
template <class In>
void widen_panel(const MicroKernels<float>& kernels, const Matrix<const In>& matrix,
                 std::int64_t rows, std::int64_t cols, std::int64_t width, float* panel) {
  if (matrix.col_stride == 1) {
    return widen_rows<In>()(rows, matrix.data, matrix.row_stride, cols, width, panel);
  }
  // Column-major: widen a few elements of each column, then transpose.
  constexpr std::int64_t max_rows = 64, max_cols = 32;
  float wide[max_cols * max_rows];
  for (std::int64_t k = 0; k < rows; k += max_rows) {
    const std::int64_t count = std::min(max_rows, rows - k);
    widen_rows<In>()(cols, &matrix(k, 0), matrix.col_stride, count, max_rows, wide);
    kernels.pack_columns(count, wide, max_rows, cols, width, panel + k * width);
  }
}

}  // namespace detail

/// panel[k * width + c] = matrix(k0 + k, col0 + c) for k in [0, rows) and c in [0, cols); columns
/// in [cols, width) become 0. Pass the transpose of A to pack A.
template <class In, class Out>
void pack_panel(const MicroKernels<Out>& kernels, const Matrix<const In>& matrix, std::int64_t k0,
                std::int64_t rows, std::int64_t col0, std::int64_t cols, std::int64_t width,
                Out* panel) {
  const Matrix<const In> corner{&matrix(k0, col0), matrix.row_stride, matrix.col_stride};
  if constexpr (std::is_same_v<In, Out>) {
    if (matrix.col_stride == 1) {
      kernels.pack_rows(rows, corner.data, matrix.row_stride, cols, width, panel);
    } else {
      kernels.pack_columns(rows, corner.data, matrix.col_stride, cols, width, panel);
    }
  } else if constexpr (std::is_same_v<Out, float>) {
    detail::widen_panel(kernels, corner, rows, cols, width, panel);
  } else {
    for (std::int64_t k = 0; k < rows; ++k) {
      for (std::int64_t c = 0; c < width; ++c) {
        *panel++ = c < cols ? static_cast<Out>(corner(k, c)) : Out{};
      }
    }
  }
}

}  // namespace rung::cpu
