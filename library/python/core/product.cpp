#include "product.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace rung::python {
namespace {

[[noreturn]] void fail(const Array& a, const Array& b, const char* rule) {
  fail_in("matmul", "a is " + shape_text(a) + ", b is " + shape_text(b) + rule);
}

/// The extent of dimension i of the result's batch in this array, and the step along it.
std::int64_t batch_extent(const Array& array, int i, int batch_dims, std::int64_t& step) {
  const int own = i - (batch_dims - (array.ndim - 2));
  step = own < 0 || array.shape[own] == 1 ? 0 : array.strides[own];
  return own < 0 ? 1 : array.shape[own];
}

/// Merges `count` matrices that are `step` elements apart into one. Returns false if the library
/// does not support it.
bool join(Matrix& matrix, std::int64_t count, std::int64_t step) {
  if (count == 1) return true;
  if (matrix.rows == 1) matrix.row_stride = step;
  if (step != matrix.rows * matrix.row_stride) return false;
  matrix.rows *= count;
  return is_direct(matrix);
}

/// The number of elements from the first to the last one, inclusive.
std::int64_t elements_of(const Matrix& matrix) {
  return (matrix.rows - 1) * matrix.row_stride + (matrix.cols - 1) * matrix.col_stride + 1;
}

}  // namespace

Shapes shapes_of(const Array& a, const Array& b) {
  if (a.ndim == 0 || b.ndim == 0) {
    fail(a, b, "; each must have at least one dimension");
  }
  Shapes shapes;
  shapes.a = matrix_of(a, true);
  shapes.b = matrix_of(b, false);
  if (shapes.a.cols != shapes.b.rows) {
    fail(a, b, "; the columns of a must be as many as the rows of b");
  }
  shapes.batch_dims = std::max({a.ndim - 2, b.ndim - 2, 0});
  for (int i = 0; i < shapes.batch_dims; ++i) {
    const std::int64_t of_a = batch_extent(a, i, shapes.batch_dims, shapes.steps_a[i]);
    const std::int64_t of_b = batch_extent(b, i, shapes.batch_dims, shapes.steps_b[i]);
    if (of_a != of_b && of_a != 1 && of_b != 1) {
      fail(a, b, "; their batches must be equal or 1");
    }
    shapes.batch[i] = of_a == 1 ? of_b : of_a;
    shapes.result[shapes.result_dims++] = shapes.batch[i];
  }
  if (a.ndim >= 2) shapes.result[shapes.result_dims++] = shapes.a.rows;
  if (b.ndim >= 2) shapes.result[shapes.result_dims++] = shapes.b.cols;
  return shapes;
}

Product::Product(const Array& a, const Array& b, const Array& out, const Shapes& shapes,
                 double alpha, double beta, std::int32_t dtype, const rung_tensor_options& options)
    : a_(a),
      b_(b),
      out_(out),
      shapes_(shapes),
      alpha_(alpha),
      beta_(beta),
      dtype_(dtype),
      options_(options) {
  c_ = {static_cast<std::byte*>(out.data),
        shapes.a.rows,
        shapes.b.cols,
        0,
        0,
        element_size(out.dtype)};
  int last = out.ndim - 1;
  if (b.ndim >= 2) c_.col_stride = out.strides[last--];
  if (a.ndim >= 2) c_.row_stride = out.strides[last];
}

rung_status Product::run() {
  // A batch without products may have null pointers, even where its matrices have elements.
  const auto* const end = shapes_.batch + shapes_.batch_dims;
  if (std::find(shapes_.batch, end, 0) != end) return RUNG_OK;
  Matrix a = shapes_.a, c = c_;
  return run_batch(0, join_rows(a, c), a, shapes_.b, c);
}

/// If one b is used for the last dimensions of the batch, and rows are contiguous across them,
/// merges all matrices of a and of c. Returns the number of remaining dimensions.
int Product::join_rows(Matrix& a, Matrix& c) const {
  int dims = shapes_.batch_dims;
  for (; dims > 0; --dims) {
    const std::int64_t count = shapes_.batch[dims - 1];
    Matrix all_a = a, all_c = c;
    if ((count != 1 && shapes_.steps_b[dims - 1] != 0) ||
        !join(all_a, count, shapes_.steps_a[dims - 1]) ||
        !join(all_c, count, out_.strides[dims - 1])) {
      break;
    }
    a = all_a;
    c = all_c;
  }
  return dims;
}

rung_status Product::run_batch(int dim, int dims, Matrix a, Matrix b, Matrix c) {
  if (dim == dims - 1 && takes_batch(dim, a, b, c)) return call_batch(dim, a, b, c);
  if (dim == dims) return out_.on_gpu() ? call(a, b, c) : run_on_host(a, b, c);
  const auto bytes = [](std::int64_t step, const Matrix& matrix) {
    return step * static_cast<std::int64_t>(matrix.element);
  };
  for (std::int64_t i = 0; i < shapes_.batch[dim]; ++i) {
    if (const rung_status status = run_batch(dim + 1, dims, a, b, c); status != RUNG_OK)
      return status;
    a.data += bytes(shapes_.steps_a[dim], a);
    b.data += bytes(shapes_.steps_b[dim], b);
    c.data += bytes(out_.strides[dim], c);
  }
  return RUNG_OK;
}

/// The library's type of an operand, which may imply rounding of its elements.
std::int32_t Product::type_of(const Array& operand) const {
  return dtype_ == RUNG_DTYPE_TF32 ? dtype_ : operand.dtype;
}

/// True if the library accepts the matrices of one dimension of the batch as a batch.
bool Product::takes_batch(int dim, const Matrix& a, const Matrix& b, const Matrix& c) const {
  const std::int64_t count = shapes_.batch[dim];
  const std::int64_t steps[] = {shapes_.steps_a[dim], shapes_.steps_b[dim], out_.strides[dim]};
  if (count < 2 || a_.dtype != b_.dtype || *std::min_element(steps, steps + 3) < 0 ||
      a.is_empty() || b.is_empty() || !is_direct(a) || !is_direct(b) || !is_direct(c) ||
      steps[2] < elements_of(c)) {
    return false;
  }
  const auto all = [count](const Matrix& matrix, std::int64_t step) {
    const std::int64_t elements = (count - 1) * step + elements_of(matrix);
    return Matrix{matrix.data, 1, elements, elements, 1, matrix.element};
  };
  const Matrix all_c = all(c, steps[2]);
  return !may_overlap(all(a, steps[0]), all_c) && !may_overlap(all(b, steps[1]), all_c);
}

rung_status Product::call_batch(int dim, const Matrix& a, const Matrix& b, const Matrix& c) {
  BatchExtents of_a, of_b, of_c;
  const std::int64_t count = shapes_.batch[dim];
  const rung_tensor ta = batch_of(a, a_, type_of(a_), count, shapes_.steps_a[dim], of_a),
                    tb = batch_of(b, b_, type_of(b_), count, shapes_.steps_b[dim], of_b),
                    tc = batch_of(c, out_, out_.dtype, count, out_.strides[dim], of_c);
  return rung_gemm(&ta, &tb, &tc, alpha_, beta_, &options_);
}

rung_status Product::run_on_host(const Matrix& a, const Matrix& b, const Matrix& c) {
  const bool a_fits = is_direct(a) && !may_overlap(a, c),
             b_fits = is_direct(b) && !may_overlap(b, c);
  if (a_fits && b_fits && is_direct(c)) [[likely]]
    return call(a, b, c);
  std::optional<Packed> copy_a, copy_b, copy_c;
  if (!a_fits) copy(a, copy_a.emplace(a).matrix());
  if (!b_fits) copy(b, copy_b.emplace(b).matrix());
  if (!is_direct(c)) copy_c.emplace(c);
  if (copy_c && beta_ != 0) copy(c, copy_c->matrix());
  const rung_status status = call(copy_a ? copy_a->matrix() : a, copy_b ? copy_b->matrix() : b,
                                  copy_c ? copy_c->matrix() : c);
  if (copy_c && status == RUNG_OK) copy(copy_c->matrix(), c);
  return status;
}

rung_status Product::call(const Matrix& a, const Matrix& b, const Matrix& c) {
  MatrixExtents of_a, of_b, of_c;
  const rung_tensor ta = tensor_of(a, a_, type_of(a_), of_a),
                    tb = tensor_of(b, b_, type_of(b_), of_b),
                    tc = tensor_of(c, out_, out_.dtype, of_c);
  return rung_gemm(&ta, &tb, &tc, alpha_, beta_, &options_);
}

}  // namespace rung::python
