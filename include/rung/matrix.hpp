#pragma once
// Non-owning views of matrices.

#include <cstdint>
#include <type_traits>

#include "rung/export.hpp"

namespace rung {

enum class Order { row_major, col_major };

/// A rows x cols matrix. The leading dimension ld is the distance, in elements, between consecutive
/// rows if row-major (at least cols), or between consecutive columns if column-major (at least
/// rows). data may be null if the matrix has no elements.
template <class T>
struct MatrixView {
  T* data;
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t ld;
  Order order = Order::row_major;

  /// Converts to MatrixView<const T>. A template, because nvcc warns about a class that converts to
  /// itself.
  template <class U>
    requires(!std::is_const_v<T> && std::is_same_v<U, const T>)
  operator MatrixView<U>() const {
    return {data, rows, cols, ld, order};
  }
};

template <class T>
constexpr MatrixView<T> row_major(T* data, std::int64_t rows, std::int64_t cols, std::int64_t ld) {
  return {data, rows, cols, ld, Order::row_major};
}

template <class T>
constexpr MatrixView<T> row_major(T* data, std::int64_t rows, std::int64_t cols) {
  return row_major(data, rows, cols, cols);
}

template <class T>
constexpr MatrixView<T> col_major(T* data, std::int64_t rows, std::int64_t cols, std::int64_t ld) {
  return {data, rows, cols, ld, Order::col_major};
}

template <class T>
constexpr MatrixView<T> col_major(T* data, std::int64_t rows, std::int64_t cols) {
  return col_major(data, rows, cols, rows);
}

/// The transposed matrix: a view of the same elements.
template <class T>
constexpr MatrixView<T> transposed(const MatrixView<T>& view) {
  return {view.data, view.cols, view.rows, view.ld,
          view.order == Order::row_major ? Order::col_major : Order::row_major};
}

}  // namespace rung
