// rung.matmul, with shapes as in NumPy's matmul. Each last batch dimension is one call of the
// library.

#include "matmul.hpp"

#include <string_view>

#include "array.hpp"
#include "errors.hpp"
#include "operands.hpp"
#include "product.hpp"
#include "without_gil.hpp"

namespace rung::python {
namespace {

constexpr const char* function = "matmul";

/// Broadcasts an addend into a new result. Implemented here for matrices and vectors, because a
/// call of PyTorch takes longer than a small product; otherwise PyTorch does it and reports errors.
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

/// Runs the product; throws the library's error, if any.
void run(Product product) {
  check_writable_by_gpu(function, product.out(), product.c());
  rung_status status;
  const char* message;
  {
    const WithoutGil released;
    status = product.run();
    message = rung_last_error();
  }
  check(status, message);
}

}  // namespace

nb::object matmul(nb::handle a, nb::handle b, nb::handle out, nb::handle stream,
                  const MatmulOptions& options) {
  const Access by_a = access_of(a), by_b = access_of(b);
  void* const launch = stream_for(a, by_a, stream);
  const Grad grad = options.ignores_grad ? Grad::ignored : Grad::refused;
  const Imported left("a", a, by_a, launch, grad), right("b", b, by_b, launch, grad);
  const bool mixed = is_mixed(left.array, right.array) && std::string_view(options.math) != "tf32";
  if (mixed) {
    check_same_device(function, left.array, right.array);
  } else {
    check_same_kind(function, left.array, right.array);
  }
  const Shapes shapes = shapes_of(left.array, right.array);
  const std::int32_t dtype = mixed ? std::int32_t{RUNG_DTYPE_F32} : left.array.dtype;
  const Arithmetic arithmetic = arithmetic_of(function, dtype, options.math);
  if (left.array.on_gpu() && !(is_direct(shapes.a) && is_direct(shapes.b))) {
    const nb::object of_a = is_direct(shapes.a) ? nb::borrow(a) : contiguous(a, stream);
    const nb::object of_b = is_direct(shapes.b) ? nb::borrow(b) : contiguous(b, stream);
    return matmul(of_a, of_b, out, stream, options);
  }
  check_beta(function, options.beta, !out.is_none() || options.addend.is_valid());
  const std::int32_t new_dtype = options.rounds && !mixed ? dtype : default_result(dtype);
  const nb::object result =
      out.is_none() ? new_array(a, by_a, left.array, new_dtype, shapes.result_dims, shapes.result)
                    : nb::borrow(out);
  const Access by_out = access_of(result);
  const Imported target("out", result, by_out, launch, grad);
  if (!out.is_none()) {
    check_out(function, target.array, left.array, shapes.result_dims, shapes.result);
  }
  if (options.addend.is_valid()) broadcast(options.addend, result, target.array);
  const rung_tensor_options how = tensor_options(arithmetic, launch, options.threads);
  if (shapes.batch_dims == 0) {
    run({left.array, right.array, target.array, shapes, options.alpha, options.beta,
         arithmetic.dtype, how});
  } else {
    const Detached own_a(left.array, target.array), own_b(right.array, target.array);
    const Shapes own = shapes_of(own_a.array(), own_b.array());
    run({own_a.array(), own_b.array(), target.array, own, options.alpha, options.beta,
         arithmetic.dtype, how});
  }
  if (!out.is_none() && !options.ignores_grad) mark_written(result, by_out);
  return result;
}

nb::object product_on_cpu(nb::handle a, nb::handle b, int dims, nb::handle addend, double beta,
                          double alpha) {
  const auto array_of = [](const char* name, nb::handle tensor) {
    return Imported(name, tensor, access_of(tensor), nullptr, Grad::ignored).array;
  };
  const Array left = array_of("a", a), right = array_of("b", b);
  const std::int32_t dtype = left.dtype;
  const bool adds = !addend.is_none() && beta != 0;
  if (!go_together(left, right, dims)) return nb::none();
  if (adds && array_of("input", addend).dtype != dtype) return nb::none();
  if (dtype == RUNG_DTYPE_BF16 || dtype == RUNG_DTYPE_F16) {
    constexpr std::int64_t most = 16384;  // PyTorch's conversion uses two threads and costs a call
    const bool fits = dims == 2 && (!adds || beta == 1) && left.shape[0] * right.shape[1] <= most;
    return fits ? rounded_matmul(a, b, adds ? addend : nb::none(), alpha, nb::none()) : nb::none();
  }
  if (dtype != RUNG_DTYPE_F32 && dtype != RUNG_DTYPE_F64) return nb::none();
  MatmulOptions options = {.alpha = alpha, .ignores_grad = true};
  if (adds) {
    options.beta = beta;
    options.addend = addend;
  }
  return matmul(a, b, nb::none(), nb::none(), options);
}

}  // namespace rung::python
