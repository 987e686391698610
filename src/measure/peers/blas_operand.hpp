#pragma once
// A matrix operand as BLAS names it.

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
        // BLAS wants ld to be a row long even where there is one row, whose stride may be anything.
        ld(std::max({transposed ? matrix.col_stride : matrix.row_stride, transposed ? rows : cols,
                     std::int64_t{1}})) {}
};

}  // namespace rung
