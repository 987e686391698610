#pragma once
// A matrix operand in the terms of the BLAS.

#include <algorithm>
#include <cstdint>

#include "core/call.hpp"

namespace rung {

/// A row-major matrix, stored directly or transposed.
struct BlasOperand {
  bool transposed;
  std::int64_t ld;

  template <class Pointer>
  BlasOperand(const AnyMatrix<Pointer>& matrix, std::int64_t rows, std::int64_t cols)
      : transposed(matrix.col_stride != 1),
        // The BLAS requires ld to be at least the length of a row, even for a single row, whose
        // stride is arbitrary.
        ld(std::max({transposed ? matrix.col_stride : matrix.row_stride, transposed ? rows : cols,
                     std::int64_t{1}})) {}
};

}  // namespace rung
