// rung.matmul: shapes as in NumPy's matmul. The last dimension of a batch is one call of the library.

#include "matmul.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "array.hpp"
#include "errors.hpp"
#include "strided_copy.hpp"

namespace rung::python {
namespace {

[[noreturn]] void fail(const std::string& message) { fail_value("matmul: " + message); }
[[noreturn]] void fail_dtype(const std::string& message) { fail_type("matmul: " + message); }

std::string both(const Array& a, const Array& b, const std::string& of_a, const std::string& of_b,
                 const char* name_b = "b", const char* name_a = "a") {
  (void)a, (void)b;
  return std::string(name_a) + " is " + of_a + ", " + name_b + " is " + of_b;
}

/// The extents of a product, and how to step through the matrices of a batch.
struct Shapes {
  int batch_dims = 0;
  std::int64_t batch[max_dims] = {};
  std::int64_t steps_a[max_dims] = {}, steps_b[max_dims] = {};
  Matrix a, b;
  int result_dims = 0;
  std::int64_t result[max_dims] = {};
};

/// The last two extents; a vector is a row at the left, and a column at the right.
Matrix matrix_of(const Array& array, bool is_left) {
  const int last = array.ndim - 1;
  Matrix matrix;
  matrix.data = static_cast<std::byte*>(array.data);
  matrix.element = element_size(array.dtype);
  if (array.ndim >= 2) {
    matrix.rows = array.shape[last - 1];
    matrix.cols = array.shape[last];
    matrix.row_stride = array.strides[last - 1];
    matrix.col_stride = array.strides[last];
  } else if (is_left) {
    matrix.rows = 1;
    matrix.cols = array.shape[0];
    matrix.col_stride = array.strides[0];
  } else {
    matrix.rows = array.shape[0];
    matrix.cols = 1;
    matrix.row_stride = array.strides[0];
  }
  return matrix;
}

/// The extent and the step of dimension i of the batch, counted over the batch of the result.
std::int64_t batch_extent(const Array& array, int i, int batch_dims, std::int64_t& step) {
  const int own = i - (batch_dims - (array.ndim - 2));
  step = own < 0 || array.shape[own] == 1 ? 0 : array.strides[own];
  return own < 0 ? 1 : array.shape[own];
}

Shapes shapes_of(const Array& a, const Array& b) {
  if (a.ndim == 0 || b.ndim == 0) {
    fail(both(a, b, shape_text(a), shape_text(b)) + "; each must have at least one dimension");
  }
  Shapes shapes;
  shapes.a = matrix_of(a, true);
  shapes.b = matrix_of(b, false);
  if (shapes.a.cols != shapes.b.rows) {
    fail(both(a, b, shape_text(a), shape_text(b)) +
         "; the columns of a must be as many as the rows of b");
  }
  shapes.batch_dims = std::max({a.ndim - 2, b.ndim - 2, 0});
  for (int i = 0; i < shapes.batch_dims; ++i) {
    const std::int64_t of_a = batch_extent(a, i, shapes.batch_dims, shapes.steps_a[i]);
    const std::int64_t of_b = batch_extent(b, i, shapes.batch_dims, shapes.steps_b[i]);
    if (of_a != of_b && of_a != 1 && of_b != 1) {
      fail(both(a, b, shape_text(a), shape_text(b)) + "; their batches must be equal or 1");
    }
    shapes.batch[i] = of_a == 1 ? of_b : of_a;
    shapes.result[shapes.result_dims++] = shapes.batch[i];
  }
  if (a.ndim >= 2) shapes.result[shapes.result_dims++] = shapes.a.rows;
  if (b.ndim >= 2) shapes.result[shapes.result_dims++] = shapes.b.cols;
  return shapes;
}

void check_same_kind(const Array& a, const Array& b) {
  if (a.dtype != b.dtype) {
    fail_dtype(both(a, b, dtype_name(a.dtype), dtype_name(b.dtype)) +
               "; they must have the same dtype");
  }
  if (a.device_type != b.device_type || a.device_id != b.device_id) {
    fail(both(a, b, "on " + device_text(a), "on " + device_text(b)) +
         "; they must be on the same device");
  }
}

void check_out(const Array& out, const Array& a, const Shapes& shapes) {
  Array expected;
  expected.ndim = shapes.result_dims;
  std::copy_n(shapes.result, max_dims, expected.shape);
  if (out.ndim != expected.ndim || !std::equal(out.shape, out.shape + out.ndim, expected.shape)) {
    fail("out is " + shape_text(out) + "; the product is " + shape_text(expected));
  }
  if (out.device_type != a.device_type || out.device_id != a.device_id) {
    fail(both(out, a, "on " + device_text(out), "on " + device_text(a), "a", "out") +
         "; they must be on the same device");
  }
  if (out.is_read_only) fail("out is read-only; it must be writable");
}

/// What the library sums in, and returns unless out says otherwise.
std::int32_t default_result(std::int32_t dtype) {
  switch (dtype) {
    case RUNG_DTYPE_F64: return RUNG_DTYPE_F64;
    case RUNG_DTYPE_I32:
    case RUNG_DTYPE_I8: return RUNG_DTYPE_I32;
    default: return RUNG_DTYPE_F32;
  }
}

std::int32_t dtype_in_mode(std::int32_t dtype, std::string_view math) {
  if (math == "ieee" || math == "split" || math == "reproducible" || math == "batch_invariant") {
    return dtype;
  }
  if (math != "tf32") {
    fail("math is '" + std::string(math) +
         "'; it must be 'ieee', 'split', 'reproducible', 'batch_invariant' or 'tf32'");
  }
  if (dtype != RUNG_DTYPE_F32) {
    fail_dtype(std::string("math is 'tf32', a is ") + dtype_name(dtype) +
               "; this mode is for float32");
  }
  return RUNG_DTYPE_TF32;
}

rung_tensor tensor_of(const Matrix& matrix, const Array& array, std::int32_t dtype,
                      std::int64_t (&extents)[4]) {
  extents[0] = matrix.rows;
  extents[1] = matrix.cols;
  extents[2] = matrix.row_stride;
  extents[3] = matrix.col_stride;
  return {matrix.data,
          array.device_type,
          array.device_id,
          2,
          dtype,
          extents,
          matrix.is_empty() ? nullptr : extents + 2};
}

/// The shape of a batch, then its strides.
using Extents = std::int64_t[6];

rung_tensor batch_of(const Matrix& matrix, const Array& array, std::int32_t dtype,
                     std::int64_t count, std::int64_t step, Extents& extents) {
  const Extents values = {count, matrix.rows,       matrix.cols,
                          step,  matrix.row_stride, matrix.col_stride};
  std::copy(values, values + 6, extents);
  return {matrix.data, array.device_type, array.device_id, 3, dtype, extents, extents + 3};
}

/// A product whose arrays have been checked.
class Product {
 public:
  Product(const Array& a, const Array& b, const Array& out, const Shapes& shapes,
          std::int32_t dtype, void* stream, const MatmulOptions& options)
      : a_(a),
        b_(b),
        out_(out),
        shapes_(shapes),
        alpha_(options.alpha),
        beta_(options.beta),
        dtype_(dtype) {
    options_.threads = options.threads;
    const std::string_view math = options.math;
    if (math == "split") options_.compute_mode = RUNG_COMPUTE_SPLIT;
    if (math == "reproducible") options_.compute_mode = RUNG_COMPUTE_REPRODUCIBLE;
    if (math == "batch_invariant") options_.compute_mode = RUNG_COMPUTE_BATCH_INVARIANT;
    options_.stream = stream;
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

  rung_status run() {
    Matrix a = shapes_.a, c = c_;
    return run_batch(0, join_rows(a, c), a, shapes_.b, c);
  }

  const Matrix& c() const { return c_; }

 private:
  /// Where one b is for the last dimensions of the batch, and rows follow each other across them, a and
  /// c become matrices with the rows of all. Returns how many dimensions are left.
  int join_rows(Matrix& a, Matrix& c) const {
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

  /// Whether `count` matrices, `step` elements apart, are one that the library takes.
  static bool join(Matrix& matrix, std::int64_t count, std::int64_t step) {
    if (count == 1) return true;
    if (matrix.rows == 1) matrix.row_stride = step;
    if (step != matrix.rows * matrix.row_stride) return false;
    matrix.rows *= count;
    return is_direct(matrix);
  }

  rung_status run_batch(int dim, int dims, Matrix a, Matrix b, Matrix c) {
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

  /// Whether the matrices of one dimension of the batch are a batch of the library's.
  bool takes_batch(int dim, const Matrix& a, const Matrix& b, const Matrix& c) const {
    const std::int64_t count = shapes_.batch[dim];
    const std::int64_t steps[] = {shapes_.steps_a[dim], shapes_.steps_b[dim], out_.strides[dim]};
    if (count < 2 || *std::min_element(steps, steps + 3) < 0 || a.is_empty() || b.is_empty() ||
        !is_direct(a) || !is_direct(b) || !is_direct(c) || steps[2] < elements_of(c)) {
      return false;
    }
    const auto all = [count](const Matrix& matrix, std::int64_t step) {
      const std::int64_t elements = (count - 1) * step + elements_of(matrix);
      return Matrix{matrix.data, 1, elements, elements, 1, matrix.element};
    };
    const Matrix all_c = all(c, steps[2]);
    return !may_overlap(all(a, steps[0]), all_c) && !may_overlap(all(b, steps[1]), all_c);
  }

  /// From the first to the last one.
  static std::int64_t elements_of(const Matrix& matrix) {
    return (matrix.rows - 1) * matrix.row_stride + (matrix.cols - 1) * matrix.col_stride + 1;
  }

  rung_status call_batch(int dim, const Matrix& a, const Matrix& b, const Matrix& c) {
    Extents of_a, of_b, of_c;
    const std::int64_t count = shapes_.batch[dim];
    const rung_tensor ta = batch_of(a, a_, dtype_, count, shapes_.steps_a[dim], of_a),
                      tb = batch_of(b, b_, dtype_, count, shapes_.steps_b[dim], of_b),
                      tc = batch_of(c, out_, out_.dtype, count, out_.strides[dim], of_c);
    return rung_gemm(&ta, &tb, &tc, alpha_, beta_, &options_);
  }

  rung_status run_on_host(const Matrix& a, const Matrix& b, const Matrix& c) {
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

  rung_status call(const Matrix& a, const Matrix& b, const Matrix& c) {
    std::int64_t of_a[4], of_b[4], of_c[4];
    const rung_tensor ta = tensor_of(a, a_, dtype_, of_a), tb = tensor_of(b, b_, dtype_, of_b),
                      tc = tensor_of(c, out_, out_.dtype, of_c);
    return rung_gemm(&ta, &tb, &tc, alpha_, beta_, &options_);
  }

  const Array &a_, &b_, &out_;
  const Shapes& shapes_;
  double alpha_, beta_;
  std::int32_t dtype_;
  rung_tensor_options options_ = RUNG_TENSOR_OPTIONS_INIT;
  Matrix c_;
};

/// Writes an addend into a new result: here if both are matrices or vectors, because a call of PyTorch's
/// takes longer than a small product, and otherwise by PyTorch, which also has the errors' words.
void broadcast(nb::handle addend, nb::handle result, const Array& to) {
  const Imported imported("input", addend, access_of(addend), nullptr, Grad::ignored);
  const Array& from = imported.array;
  Matrix target = matrix_of(to, true), source = matrix_of(from, true);
  const auto fits = [](std::int64_t own, std::int64_t all, std::int64_t& stride) {
    if (own == 1) stride = 0;
    return own == 1 || own == all;
  };
  if (to.ndim != 2 || from.ndim < 1 || from.ndim > 2 ||
      !fits(source.rows, target.rows, source.row_stride) ||
      !fits(source.cols, target.cols, source.col_stride)) {
    result.attr("copy_")(addend);
    return;
  }
  source.rows = target.rows;
  source.cols = target.cols;
  copy(source, target);
}

/// The object, or a copy of it without gaps, by its own library.
nb::object contiguous(nb::handle object) {
  if (nb::hasattr(object, "contiguous")) return object.attr("contiguous")();
  return object.attr("copy")();
}

}  // namespace

nb::object matmul(nb::handle a, nb::handle b, nb::handle out, nb::handle stream,
                  const MatmulOptions& options) {
  const Access by_a = access_of(a), by_b = access_of(b);
  void* const launch = stream_for(a, by_a, stream);
  const Grad grad = options.ignores_grad ? Grad::ignored : Grad::refused;
  const Imported left("a", a, by_a, launch, grad), right("b", b, by_b, launch, grad);
  check_same_kind(left.array, right.array);
  const Shapes shapes = shapes_of(left.array, right.array);
  const std::int32_t dtype = dtype_in_mode(left.array.dtype, options.math);
  if (left.array.on_gpu() && !(is_direct(shapes.a) && is_direct(shapes.b))) {
    const nb::object of_a = is_direct(shapes.a) ? nb::borrow(a) : contiguous(a);
    const nb::object of_b = is_direct(shapes.b) ? nb::borrow(b) : contiguous(b);
    return matmul(of_a, of_b, out, stream, options);
  }
  if (out.is_none() && options.beta != 0 && !options.addend.is_valid()) {
    fail("beta is " + std::to_string(options.beta) +
         ", and there is no out to scale; pass out, or 0");
  }
  const std::int32_t new_dtype =
      options.rounds ? left.array.dtype : default_result(left.array.dtype);
  const nb::object result =
      out.is_none() ? new_array(a, by_a, left.array, new_dtype, shapes.result_dims, shapes.result)
                    : nb::borrow(out);
  const Imported target("out", result, access_of(result), launch);
  if (!out.is_none()) check_out(target.array, left.array, shapes);
  if (options.addend.is_valid()) broadcast(options.addend, result, target.array);
  Product product(left.array, right.array, target.array, shapes, dtype, launch, options);
  if (target.array.on_gpu() && !is_direct(product.c())) {
    fail("out has strides that a GPU kernel cannot write; one of the last two must be 1");
  }
  rung_status status;
  const char* message;
  {
    const nb::gil_scoped_release released;
    status = product.run();
    message = rung_last_error();
  }
  check(status, message);
  return result;
}

nb::object new_result(nb::handle a, nb::tuple shape) {
  const Access access = access_of(a);
  const Imported like("a", a, access, stream_for(a, access, nb::none()));
  if (shape.size() > max_dims) fail("the shape has more than 8 dimensions");
  std::int64_t extents[max_dims];
  for (std::size_t i = 0; i < shape.size(); ++i) extents[i] = nb::cast<std::int64_t>(shape[i]);
  return new_array(a, access, like.array, default_result(like.array.dtype),
                   static_cast<int>(shape.size()), extents);
}

}  // namespace rung::python
