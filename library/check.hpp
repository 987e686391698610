#pragma once
// Argument checks. They are inline, because a small product takes only a few times as long as its
// checks; messages are built out of line.

#include <cstddef>
#include <cstdint>

#include "core/dtype_traits.hpp"
#include "rung/matrix.hpp"
#include "rung/options.hpp"

namespace rung::check {

[[noreturn]] void fail_negative(const char* op, const char* what, std::int64_t value);
[[noreturn]] void fail_shapes(std::int64_t a_rows, std::int64_t a_cols, std::int64_t b_rows,
                              std::int64_t b_cols, std::int64_t c_rows, std::int64_t c_cols);
[[noreturn]] void fail_leading(const char* matrix, std::int64_t ld, std::int64_t least,
                               Order order);
[[noreturn]] void fail_matrix_bytes(const char* matrix, std::int64_t lines, std::int64_t ld,
                                    std::int64_t element_bytes);
[[noreturn]] void fail_matrix_null(const char* matrix, std::int64_t rows, std::int64_t cols);
[[noreturn]] void fail_lengths(std::int64_t x, std::int64_t y);
[[noreturn]] void fail_vector_bytes(const char* vector, std::int64_t n, std::int64_t increment,
                                    std::int64_t element_bytes);
[[noreturn]] void fail_vector_null(const char* vector, std::int64_t n);
[[noreturn]] void fail_compute_mode(const char* op, int mode);
[[noreturn]] void fail_dtype_of_mode(Dtype dtype);
[[noreturn]] void fail_mode(int mode);
[[noreturn]] void fail_result(const char* op);
[[noreturn]] void fail_workspace(const char* op, const void* workspace, std::size_t bytes,
                                 std::size_t least);

/// Below this limit, the product of two sizes and an element size cannot overflow.
inline constexpr std::uint64_t modest_size = std::uint64_t{1} << 28;

inline bool overflows(std::int64_t a, std::int64_t b, std::int64_t c) {
  std::int64_t product;
  return __builtin_mul_overflow(a, b, &product) || __builtin_mul_overflow(product, c, &product);
}

inline void threads(const char* op, int value) {
  if (value < 0) [[unlikely]]
    fail_negative(op, "threads", value);
}

inline void multiprocessors(const char* op, int value) {
  if (value < 0) [[unlikely]]
    fail_negative(op, "multiprocessors", value);
}

inline void compute_mode(const char* op, ComputeMode mode) {
  if (mode < ComputeMode::standard || mode > ComputeMode::batch_invariant) [[unlikely]]
    fail_compute_mode(op, static_cast<int>(mode));
}

/// Throws Status::unavailable if the mode does not exist for a type.
inline void has_mode(Dtype dtype, ComputeMode mode) {
  if (mode == ComputeMode::reproducible && dtype != Dtype::f32 && !is_integer(dtype)) [[unlikely]]
    fail_dtype_of_mode(dtype);
}

inline void mode(DotMode mode) {
  if (mode < DotMode::fast || mode > DotMode::reproducible) [[unlikely]]
    fail_mode(static_cast<int>(mode));
}

inline void result(const char* op, const void* result) {
  if (result == nullptr) [[unlikely]]
    fail_result(op);
}

/// Checks GPU memory as in CudaOptions. It may be null, but not smaller than `least` bytes.
inline void workspace(const char* op, const void* data, std::size_t bytes, std::size_t least = 0) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(data) % 256 == 0;
  if (!aligned || (data == nullptr ? bytes != 0 : bytes < least)) [[unlikely]]
    fail_workspace(op, data, bytes, least);
}

/// Checks everything about a matrix except its pointer.
template <class T>
[[gnu::always_inline]] inline void matrix(const char* name, const MatrixView<T>& view) {
  // A single test that three numbers are neither negative nor large, which halves the instructions.
  const std::int64_t bits = view.rows | view.cols | view.ld;
  const bool is_modest = static_cast<std::uint64_t>(bits) < modest_size;
  if (is_modest && view.ld >= (view.order == Order::row_major ? view.cols : view.rows)) [[likely]]
    return;
  if (view.rows < 0) [[unlikely]]
    fail_negative(name, "rows", view.rows);
  if (view.cols < 0) [[unlikely]]
    fail_negative(name, "columns", view.cols);
  const bool by_rows = view.order == Order::row_major;
  const std::int64_t lines = by_rows ? view.rows : view.cols;
  const std::int64_t least = by_rows ? view.cols : view.rows;
  if (view.ld < least) [[unlikely]]
    fail_leading(name, view.ld, least, view.order);
  if (overflows(lines, view.ld, sizeof(T))) [[unlikely]] {
    fail_matrix_bytes(name, lines, view.ld, sizeof(T));
  }
}

template <class T>
void not_null(const char* name, const MatrixView<T>& view) {
  if (view.data == nullptr) [[unlikely]]
    fail_matrix_null(name, view.rows, view.cols);
}

/// Checks a vector of n >= 0 elements that starts at data.
template <class T>
void vector(const char* name, std::int64_t n, const T* data, std::int64_t increment) {
  if (data == nullptr && n > 0) [[unlikely]]
    fail_vector_null(name, n);
  if (overflows(n, increment, sizeof(T))) [[unlikely]] {
    fail_vector_bytes(name, n, increment, sizeof(T));
  }
}

}  // namespace rung::check
