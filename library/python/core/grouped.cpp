// rung.grouped_matmul: groups of rows, or of the summed dimension k. Makes one call of the library
// if it accepts the arrays in place and has a kernel for groups, otherwise one call per group.

#include <algorithm>
#include <string>

#include "array.hpp"
#include "errors.hpp"
#include "matmul.hpp"
#include "offsets.hpp"
#include "operands.hpp"
#include "product.hpp"
#include "without_gil.hpp"

namespace rung::python {
namespace {

constexpr const char* function = "grouped_matmul";

[[noreturn]] void fail(const std::string& message) { fail_in(function, message); }

/// `count` rows or columns of a two-dimensional array, starting with `start`.
Array part_of(const Array& whole, int dim, std::int64_t start, std::int64_t count) {
  Array part = whole;
  const auto element = static_cast<std::int64_t>(element_size(whole.dtype));
  part.data = static_cast<std::byte*>(whole.data) + start * whole.strides[dim] * element;
  part.shape[dim] = count;
  return part;
}

/// One matrix of a three-dimensional array.
Array matrix_at(const Array& batch, std::int64_t index) {
  Array matrix = part_of(batch, 0, index, 1);
  matrix.ndim = 2;
  std::copy_n(batch.shape + 1, 2, matrix.shape);
  std::copy_n(batch.strides + 1, 2, matrix.strides);
  return matrix;
}

/// Grouped products whose arrays have been checked.
struct Groups {
  const Array &a, &b, &out;
  bool cuts_k;  // out has a matrix for each group; otherwise b does
  std::int64_t count;
  double alpha, beta;
  std::int32_t dtype;
  rung_tensor_options options;

  /// True if the library accepts all arrays in place.
  bool is_one_call() const {
    const Array& batch = cuts_k ? out : b;
    const Matrix c = matrix_of(out, true);
    return is_direct(matrix_of(a, true)) && is_direct(matrix_of(b, false)) && is_direct(c) &&
           batch.strides[0] >= 0 && (cuts_k || c.col_stride == 1 || c.cols == 1);
  }

  rung_status call(const std::int32_t* offsets) const {
    MatrixExtents of_a, of_matrix;
    BatchExtents of_batch;
    const rung_tensor left = tensor_of(matrix_of(a, true), a, dtype, of_a);
    if (cuts_k) {
      const rung_tensor right = tensor_of(matrix_of(b, false), b, dtype, of_matrix),
                        result = batch_of(matrix_of(out, true), out, out.dtype, count,
                                          out.strides[0], of_batch);
      return rung_gemm_grouped(&left, &right, &result, offsets, alpha, beta, &options);
    }
    const rung_tensor right =
                          batch_of(matrix_of(b, false), b, dtype, count, b.strides[0], of_batch),
                      result = tensor_of(matrix_of(out, true), out, out.dtype, of_matrix);
    return rung_gemm_grouped(&left, &right, &result, offsets, alpha, beta, &options);
  }

  rung_status call_one_by_one(const std::int32_t* offsets) const {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t start = offsets[i], size = offsets[i + 1] - start;
      if (size == 0 && !cuts_k) continue;
      const Array of_a = part_of(a, cuts_k ? 1 : 0, start, size),
                  of_b = cuts_k ? part_of(b, 0, start, size) : matrix_at(b, i),
                  of_out = cuts_k ? matrix_at(out, i) : part_of(out, 0, start, size);
      const Shapes shapes = shapes_of(of_a, of_b);
      Product product(of_a, of_b, of_out, shapes, alpha, beta, dtype, options);
      if (const rung_status status = product.run(); status != RUNG_OK) return status;
    }
    return RUNG_OK;
  }

  /// Runs the call; throws the library's error, if any.
  void run(Offsets& offsets) const {
    rung_status status = RUNG_UNAVAILABLE;
    const char* message = nullptr;
    const auto without_gil = [&](rung_status (Groups::*how)(const std::int32_t*) const,
                                 const std::int32_t* given) {
      const WithoutGil released;
      status = (this->*how)(given);
      message = rung_last_error();
    };
    if (is_one_call()) {
      without_gil(&Groups::call, out.on_gpu() ? offsets.on_gpu() : offsets.on_host());
    }
    // There is no kernel for groups of this type.
    if (status == RUNG_UNAVAILABLE) without_gil(&Groups::call_one_by_one, offsets.on_host());
    rung::python::check(status, message);
  }
};

void check_shapes(const Array& a, const Array& b) {
  const std::string shapes = "a is " + shape_text(a) + ", b is " + shape_text(b);
  if (a.ndim != 2 || (b.ndim != 2 && b.ndim != 3)) {
    fail(shapes + "; a must have two dimensions, and b three, or two for groups of columns of a");
  }
  if (a.shape[1] != b.shape[b.ndim - 2]) {
    fail(shapes + "; the columns of a must be as many as the rows of b");
  }
}

}  // namespace

nb::object grouped_matmul(nb::handle a, nb::handle b, nb::handle offsets, nb::handle out,
                          nb::handle stream, const MatmulOptions& options) {
  const Access by_a = access_of(a);
  void* const launch = stream_for(a, by_a, stream);
  const Imported left("a", a, by_a, launch), right("b", b, access_of(b), launch);
  check_same_kind(function, left.array, right.array);
  check_shapes(left.array, right.array);
  const bool cuts_k = right.array.ndim == 2;
  const bool a_fits = is_direct(matrix_of(left.array, true)),
             b_fits = is_direct(matrix_of(right.array, false));
  if (left.array.on_gpu() && !(a_fits && b_fits)) {
    const nb::object of_a = a_fits ? nb::borrow(a) : contiguous(a, stream);
    const nb::object of_b = b_fits ? nb::borrow(b) : contiguous(b, stream);
    return grouped_matmul(of_a, of_b, offsets, out, stream, options);
  }
  const Arithmetic arithmetic = arithmetic_of(function, left.array.dtype, options.math);
  check_beta(function, options.beta, !out.is_none());
  Offsets cuts(function, offsets, a, left.array.on_gpu(), stream, launch);
  if (!cuts_k) cuts.check_count(right.array.shape[0]);
  cuts.check(left.array.shape[cuts_k ? 1 : 0], cuts_k ? "columns" : "rows");

  const std::int64_t count = cuts.count() - 1, rows = left.array.shape[0],
                     cols = right.array.shape[right.array.ndim - 1];
  const std::int64_t of_matrices[] = {count, rows, cols}, of_rows[] = {rows, cols};
  const std::int64_t* const shape = cuts_k ? of_matrices : of_rows;
  const int ndim = cuts_k ? 3 : 2;
  const nb::object result =
      out.is_none() ? new_array(a, by_a, left.array, default_result(left.array.dtype), ndim, shape)
                    : nb::borrow(out);
  const Access by_out = access_of(result);
  const Imported target("out", result, by_out, launch);
  if (!out.is_none()) check_out(function, target.array, left.array, ndim, shape);
  const Matrix c = matrix_of(target.array, true);
  if (count == 0 || c.is_empty()) return result;
  check_writable_by_gpu(function, target.array, c);
  const Detached own_a(left.array, target.array), own_b(right.array, target.array);
  Groups{own_a.array(),
         own_b.array(),
         target.array,
         cuts_k,
         count,
         options.alpha,
         options.beta,
         arithmetic.dtype,
         tensor_options(arithmetic, launch, options.threads)}
      .run(cuts);
  if (!out.is_none()) mark_written(result, by_out);
  return result;
}

}  // namespace rung::python
