#pragma once
// Packs a block of a matrix, of any layout and element type, into a panel for the micro-kernels.

#include <cstdint>
#include <type_traits>

#include "core/problem.hpp"
#include "device/cpu/micro_kernels.hpp"

namespace rung::cpu {

/// Elements per cache line. Align panels of B to it: otherwise each of their loads crosses a line.
template <class T>
inline constexpr std::int64_t line = 64 / sizeof(T);

/// panel[k * width + c] = matrix(k0 + k, col0 + c) for k in [0, rows) and c in [0, cols); columns
/// from cols to width become 0. Pass the transpose of A to pack A.
template <class In, class Out>
void pack_panel(const MicroKernels<Out>& kernels, const Matrix<const In>& matrix, std::int64_t k0,
                std::int64_t rows, std::int64_t col0, std::int64_t cols, std::int64_t width,
                Out* panel) {
  if constexpr (std::is_same_v<In, Out>) {
    const In* const corner = &matrix(k0, col0);
    if (matrix.col_stride == 1) {
      kernels.pack_rows(rows, corner, matrix.row_stride, cols, width, panel);
    } else {
      kernels.pack_columns(rows, corner, matrix.col_stride, cols, width, panel);
    }
  } else {
    for (std::int64_t k = k0; k < k0 + rows; ++k) {
      for (std::int64_t c = 0; c < width; ++c) {
        *panel++ = c < cols ? static_cast<Out>(matrix(k, col0 + c)) : Out{};
      }
    }
  }
}

}  // namespace rung::cpu
