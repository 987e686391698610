#pragma once
// Argument checks of batches.

#include <cstdint>

#include "core/call.hpp"
#include "library/check.hpp"
#include "rung/batch.hpp"

namespace rung::check {

[[noreturn]] void fail_counts(std::int64_t a, std::int64_t b, std::int64_t c);
[[noreturn]] void fail_stride_of_c(std::int64_t stride, std::int64_t least);
[[noreturn]] void fail_batch_bytes(const char* matrix, std::int64_t count, std::int64_t stride);
[[noreturn]] void fail_batch_null(const char* matrix, std::int64_t count);
[[noreturn]] void fail_pointer(const char* matrix, std::int64_t index, std::int64_t count);

/// The number of elements from the first element of a matrix to its last one, inclusive.
template <class T>
std::int64_t extent_of(const MatrixView<T>& view) {
  const bool by_rows = view.order == Order::row_major;
  const std::int64_t lines = by_rows ? view.rows : view.cols;
  const std::int64_t length = by_rows ? view.cols : view.rows;
  return lines == 0 || length == 0 ? 0 : (lines - 1) * view.ld + length;
}

/// Checks everything about an operand except its addresses.
template <class T>
void batch_operand(const char* name, const BatchView<T>& view) {
  matrix(name, view.matrix);
  if (view.count < 0) fail_negative(name, "count", view.count);
  if (view.stride < 0) fail_negative(name, "stride", view.stride);
  std::int64_t last = 0, bytes = 0;
  const bool fits = !__builtin_mul_overflow(view.count, view.stride, &last) &&
                    !__builtin_add_overflow(last, extent_of(view.matrix), &last) &&
                    !__builtin_mul_overflow(last, std::int64_t{sizeof(T)}, &bytes) &&
                    (view.pointers == nullptr || !overflows(view.count, sizeof(T*), 1));
  if (!fits) fail_batch_bytes(name, view.count, view.stride);
}

template <class T>
void batch_not_null(const char* name, const BatchView<T>& view) {
  if (view.pointers == nullptr && view.matrix.data == nullptr) fail_batch_null(name, view.count);
}

/// The operands that a batch uses.
enum class Operands { none, c, all };

/// Checks a batch. `has_alpha`: alpha is not 0.
template <class In, class Out>
Operands batch(bool has_alpha, const BatchView<const In>& a, const BatchView<const In>& b,
               const BatchView<Out>& c) {
  batch_operand("gemm_batched: A", a);
  batch_operand("gemm_batched: B", b);
  batch_operand("gemm_batched: C", c);
  if (a.count != c.count || b.count != c.count) fail_counts(a.count, b.count, c.count);
  const auto& of_a = a.matrix;
  const auto& of_b = b.matrix;
  const auto& of_c = c.matrix;
  if (of_a.rows != of_c.rows || of_b.cols != of_c.cols || of_a.cols != of_b.rows) {
    fail_shapes(of_a.rows, of_a.cols, of_b.rows, of_b.cols, of_c.rows, of_c.cols);
  }
  if (c.count == 0 || of_c.rows == 0 || of_c.cols == 0) return Operands::none;
  if (c.pointers == nullptr && c.count > 1 && c.stride < extent_of(of_c)) {
    fail_stride_of_c(c.stride, extent_of(of_c));
  }
  batch_not_null("gemm_batched: C", c);
  if (!has_alpha || of_a.cols == 0) return Operands::c;
  batch_not_null("gemm_batched: A", a);
  batch_not_null("gemm_batched: B", b);
  return Operands::all;
}

/// Checks that no pointer in an array in host memory is null.
template <class Pointer>
void pointers(const char* name, const AnyMatrix<Pointer>& operand, std::int64_t count) {
  if (operand.pointers == nullptr) return;
  for (std::int64_t i = 0; i < count; ++i) {
    if (operand.pointers[i] == nullptr) fail_pointer(name, i, count);
  }
}

}  // namespace rung::check
