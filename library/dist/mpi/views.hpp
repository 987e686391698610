#pragma once
// Parts of views.

#include <cstdint>

#include "rung/matrix.hpp"

namespace rung::dist {

template <class T>
MatrixView<T> columns(const MatrixView<T>& view, std::int64_t begin, std::int64_t count) {
  const std::int64_t stride = view.order == Order::row_major ? 1 : view.ld;
  return {view.data + begin * stride, view.rows, count, view.ld, view.order};
}

template <class T>
MatrixView<T> rows(const MatrixView<T>& view, std::int64_t begin, std::int64_t count) {
  return transposed(columns(transposed(view), begin, count));
}

template <class T>
T& element(const MatrixView<T>& view, std::int64_t row, std::int64_t col) {
  return view.data[view.order == Order::row_major ? row * view.ld + col : col * view.ld + row];
}

/// A contiguous column-major matrix.
template <class T>
MatrixView<T> tight(T* data, std::int64_t rows, std::int64_t cols) {
  return col_major(data, rows, cols, rows == 0 ? 1 : rows);
}

}  // namespace rung::dist
