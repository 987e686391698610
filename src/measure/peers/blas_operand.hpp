#pragma once
// A matrix operand in BLAS terms.

#include <algorithm>
#include <cstdint>

#include "core/call.hpp"

namespace rung {

/// Row-major, stored as it is or transposed.
struct BlasOperand {
  bool transposed;
  std::int64_t ld;

  template <class Pointer>
  BlasOperand(const AnyMatrix<Pointer>& matrix, std::int64_t rows, std::int64_t cols)
      : transposed(matrix.col_stride != 1),
        // BLAS requires ld to be at least a row long, even with a single row, whose stride may be
        // anything.
        ld(std::max({transposed ? matrix.col_stride : matrix.row_stride, transposed ? rows : cols,
                     std::int64_t{1}})) {}
};

}  // namespace rung
