#include "strided_copy.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace rung::python {
namespace {

template <std::size_t ELEMENT>
void copy_elements(const Matrix& from, const Matrix& to) {
  constexpr auto step = static_cast<std::int64_t>(ELEMENT);
  for (std::int64_t i = 0; i < from.rows; ++i) {
    const std::byte* source = from.data + i * from.row_stride * step;
    std::byte* target = to.data + i * to.row_stride * step;
    if (from.col_stride == 1 && to.col_stride == 1) {
      if (from.cols > 0) std::memcpy(target, source, static_cast<std::size_t>(from.cols) * ELEMENT);
      continue;
    }
    for (std::int64_t j = 0; j < from.cols; ++j) {
      std::memcpy(target, source, ELEMENT);
      source += from.col_stride * step;
      target += to.col_stride * step;
    }
  }
}

/// The first byte of a matrix, and the end of its last one.
std::pair<const std::byte*, const std::byte*> extent(const Matrix& matrix) {
  std::int64_t low = 0, high = 0;
  for (const auto& [count, stride] :
       {std::pair(matrix.rows, matrix.row_stride), std::pair(matrix.cols, matrix.col_stride)}) {
    (stride < 0 ? low : high) += (count - 1) * stride;
  }
  const auto element = static_cast<std::int64_t>(matrix.element);
  return {matrix.data + low * element, matrix.data + (high + 1) * element};
}

}  // namespace

bool is_direct(const Matrix& matrix) {
  if (matrix.is_empty()) return true;
  if (reinterpret_cast<std::uintptr_t>(matrix.data) % matrix.element != 0) return false;
  if (matrix.col_stride == 1 || matrix.cols == 1) {
    return matrix.rows == 1 || matrix.row_stride >= matrix.cols;
  }
  return (matrix.row_stride == 1 || matrix.rows == 1) && matrix.col_stride >= matrix.rows;
}

Packed::Packed(const Matrix& like)
    : memory_(new std::byte[static_cast<std::size_t>(like.rows * like.cols) * like.element]),
      matrix_{memory_.get(), like.rows, like.cols, like.cols, 1, like.element} {}

void copy(const Matrix& from, const Matrix& to) {
  switch (from.element) {
    case 1: return copy_elements<1>(from, to);
    case 2: return copy_elements<2>(from, to);
    case 4: return copy_elements<4>(from, to);
    default: return copy_elements<8>(from, to);
  }
}

bool may_overlap(const Matrix& a, const Matrix& b) {
  if (a.is_empty() || b.is_empty()) return false;
  const auto [first_a, end_a] = extent(a);
  const auto [first_b, end_b] = extent(b);
  return first_a < end_b && first_b < end_a;
}

}  // namespace rung::python
