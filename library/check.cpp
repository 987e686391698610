#include "library/check.hpp"

#include <string>

#include "core/dtype.hpp"
#include "library/check_batch.hpp"
#include "rung/error.hpp"

namespace rung::check {
namespace {

std::string text(std::int64_t value) { return std::to_string(value); }

std::string shape(std::int64_t rows, std::int64_t cols) { return text(rows) + " x " + text(cols); }

[[noreturn]] void fail(const std::string& message) {
  throw Error(Status::invalid_argument, "rung: " + message);
}

[[noreturn]] void fail_bytes(const std::string& what, std::int64_t element_bytes) {
  fail(what + ", of " + text(element_bytes) +
       " bytes each: it must take at most 9223372036854775807 bytes");
}

}  // namespace

void fail_negative(const char* of, const char* what, std::int64_t value) {
  fail(std::string(of) + ": " + what + " is " + text(value) + "; it must be at least 0");
}

void fail_shapes(std::int64_t a_rows, std::int64_t a_cols, std::int64_t b_rows, std::int64_t b_cols,
                 std::int64_t c_rows, std::int64_t c_cols) {
  fail("gemm: A is " + shape(a_rows, a_cols) + ", B is " + shape(b_rows, b_cols) + ", C is " +
       shape(c_rows, c_cols) + "; they must be m x k, k x n and m x n");
}

void fail_leading(const char* matrix, std::int64_t ld, std::int64_t least, Order order) {
  fail(std::string(matrix) + ": the leading dimension is " + text(ld) + "; it must be at least " +
       text(least) +
       (order == Order::row_major ? ", the columns (row-major)" : ", the rows (column-major)"));
}

void fail_matrix_bytes(const char* matrix, std::int64_t lines, std::int64_t ld,
                       std::int64_t element_bytes) {
  fail_bytes(std::string(matrix) + " is " + text(lines) + " lines of " + text(ld) + " elements",
             element_bytes);
}

void fail_matrix_null(const char* matrix, std::int64_t rows, std::int64_t cols) {
  fail(std::string(matrix) + " is null; it must point to " + shape(rows, cols) + " elements");
}

void fail_counts(std::int64_t a, std::int64_t b, std::int64_t c) {
  fail("gemm_batched: A has " + text(a) + " matrices, B " + text(b) + ", C " + text(c) +
       "; they must have the same number");
}

void fail_stride_of_c(std::int64_t stride, std::int64_t least) {
  fail("gemm_batched: C: the stride is " + text(stride) + "; it must be at least " + text(least) +
       ", the elements from the first to the last one of a matrix");
}

void fail_batch_bytes(const char* matrix, std::int64_t count, std::int64_t stride) {
  fail(std::string(matrix) + " has " + text(count) + " matrices at a stride of " + text(stride) +
       "; it must take at most 9223372036854775807 bytes");
}

void fail_batch_null(const char* matrix, std::int64_t count) {
  fail(std::string(matrix) + " is null; it must point to " + text(count) + " matrices");
}

void fail_pointer(const char* matrix, std::int64_t index, std::int64_t count) {
  fail(std::string(matrix) + ": pointer " + text(index) + " of " + text(count) +
       " is null; it must point to a matrix");
}

void fail_lengths(std::int64_t x, std::int64_t y) {
  fail("dot: x has " + text(x) + " elements, y has " + text(y) +
       "; they must have the same number");
}

void fail_vector_bytes(const char* vector, std::int64_t n, std::int64_t increment,
                       std::int64_t element_bytes) {
  fail_bytes(std::string(vector) + " is " + text(n) + " elements at increment " + text(increment),
             element_bytes);
}

void fail_vector_null(const char* vector, std::int64_t n) {
  fail(std::string(vector) + " is null; it must point to " + text(n) + " elements");
}

void fail_compute_mode(const char* op, int mode) {
  fail(std::string(op) + ": compute_mode is " + text(mode) +
       "; it must be 0 (standard), 1 (split), 2 (reproducible) or 3 (batch_invariant)");
}

void fail_dtype_of_mode(Dtype dtype) {
  throw Error(Status::unavailable,
              "rung: gemm: compute_mode is 2 (reproducible), the elements are " +
                  std::string(name(dtype)) + "; this mode is for f32, i32 and i8");
}

void fail_mode(int mode) {
  fail("dot: mode is " + text(mode) +
       "; it must be 0 (fast), 1 (deterministic), 2 (compensated) or 3 (reproducible)");
}

void fail_result(const char* op) {
  fail(std::string(op) + ": result is null; it must point to a number");
}

void fail_workspace(const char* op, const void* workspace, std::size_t bytes, std::size_t least) {
  const std::string what = std::string(op) + ": the workspace ";
  if (workspace == nullptr) {
    fail(what + "is null; it must point to " + std::to_string(bytes) + " bytes");
  }
  const auto misaligned = reinterpret_cast<std::uintptr_t>(workspace) % 256;
  if (misaligned != 0) {
    fail(what + "is at an address of " + std::to_string(misaligned) +
         " modulo 256; it must be aligned to 256 bytes");
  }
  fail(what + "has " + std::to_string(bytes) + " bytes; it must have at least " +
       std::to_string(least));
}

}  // namespace rung::check
