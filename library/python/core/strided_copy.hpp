#pragma once
// Copies of matrices in host memory that the library cannot read or write in place.

#include <cstddef>
#include <cstdint>
#include <memory>

namespace rung::python {

/// A matrix of a batch: extents, and strides in elements.
struct Matrix {
  std::byte* data = nullptr;
  std::int64_t rows = 0, cols = 0;
  std::int64_t row_stride = 0, col_stride = 0;
  std::size_t element = 0;  // bytes

  bool is_empty() const { return rows == 0 || cols == 0; }
};

/// True if rung_gemm accepts the matrix: one stride is 1, and the other at least the extent of that
/// dimension.
bool is_direct(const Matrix& matrix);

/// Row-major memory for the elements of a matrix.
class Packed {
 public:
  explicit Packed(const Matrix& like);
  const Matrix& matrix() const { return matrix_; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  Matrix matrix_;
};

/// Copies the elements of a matrix to another one of the same shape.
void copy(const Matrix& from, const Matrix& to);

/// True if two matrices may share memory, judged by the ranges from their first to their last byte.
bool may_overlap(const Matrix& a, const Matrix& b);

}  // namespace rung::python
