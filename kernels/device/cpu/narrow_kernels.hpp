#pragma once
// Micro-kernels for a C with few rows or columns, which read the large operand only once. One set
// per instruction set, for float and double.

#include <cstdint>

namespace rung::cpu {

/// C (rows x cols) = alpha * A * B + beta * C as dot products: rows of A and columns of B are
/// contiguous. With beta == 0, C is not read.
template <class In, class Acc = In>
struct DotTile {
  std::int64_t k;
  const In* a;
  std::int64_t a_row;  // elements between rows of A
  const In* b;
  std::int64_t b_col;  // elements between columns of B
  Acc alpha;
  Acc beta;
  Acc* c;
  std::int64_t c_row, c_col;
};

template <class In, class Acc = In>
struct NarrowDots {
  static constexpr int max_rows = 4, max_cols = 4;
  static constexpr int column_rows = 8;

  void (*dots[max_rows][max_cols])(const DotTile<In, Acc>& tile);  // [rows - 1][cols - 1]
  void (*column)(const DotTile<In, Acc>& tile);                    // column_rows x 1
};

/// C (rows x n) = alpha * A * B + beta * C as sums of rows of B: rows of B and of C are contiguous.
template <class T>
struct RowSum {
  std::int64_t n;
  const T* a;
  std::int64_t a_row, a_k;
  const T* b;
  std::int64_t b_k;
  T alpha;
  T beta;
  T* c;
  std::int64_t ldc;
};

template <class T>
struct NarrowKernels : NarrowDots<T> {
  static constexpr int max_depth = 12;
  /// The largest k for which A, with this many rows, fits in registers.
  static constexpr std::int64_t depth(std::int64_t rows) { return rows <= 2 ? max_depth : 8; }

  void (*row_sums[NarrowDots<T>::max_rows][max_depth])(
      const RowSum<T>& sum);  // [rows - 1][k - 1], k up to depth(rows)
};

/// The kernels for this machine. T is float or double.
template <class T>
const NarrowKernels<T>& narrow_kernels();

}  // namespace rung::cpu
