#include "operands.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "errors.hpp"

namespace rung::python {
namespace {

std::string of_function(const char* function, const std::string& message) {
  return std::string(function) + ": " + message;
}

std::string differ(const char* first, const std::string& of_first, const char* second,
                   const std::string& of_second) {
  return std::string(first) + " is " + of_first + ", " + second + " is " + of_second;
}

/// Copies the elements of an array, from dimension `dim` on, to an array of the same shape.
void copy_matrices(const Array& from, const Array& to, int dim, std::byte* source,
                   std::byte* target) {
  Array matrix_from = from, matrix_to = to;
  if (from.ndim - dim <= 2) {
    matrix_from.data = source;
    matrix_to.data = target;
    return copy(matrix_of(matrix_from, true), matrix_of(matrix_to, true));
  }
  const auto element = static_cast<std::int64_t>(element_size(from.dtype));
  for (std::int64_t i = 0; i < from.shape[dim]; ++i) {
    copy_matrices(from, to, dim + 1, source + i * from.strides[dim] * element,
                  target + i * to.strides[dim] * element);
  }
}

/// True if two elements of an array may have the same address. Exact for two dimensions. With more
/// dimensions, it is true unless each stride exceeds the range of the smaller ones.
bool may_repeat(const Array& array) {
  struct Steps {
    std::int64_t stride, count;
  };
  Steps steps[max_dims];  // in ascending order of strides
  int dims = 0;
  for (int i = 0; i < array.ndim; ++i) {
    if (array.shape[i] == 0) return false;
    if (array.shape[i] == 1) continue;
    const std::int64_t stride = std::abs(array.strides[i]);
    int at = dims++;
    for (; at > 0 && steps[at - 1].stride > stride; --at) steps[at] = steps[at - 1];
    steps[at] = {stride, array.shape[i]};
  }
  std::int64_t reach = 0;
  bool are_nested = true;
  for (int i = 0; i < dims; ++i) {
    are_nested = are_nested && steps[i].stride > reach;
    reach += (steps[i].count - 1) * steps[i].stride;
  }
  if (are_nested || dims != 2 || steps[0].stride == 0) return !are_nested;
  const std::int64_t common = std::gcd(steps[0].stride, steps[1].stride);
  return steps[1].stride / common < steps[0].count && steps[0].stride / common < steps[1].count;
}

bool on_same_device(const Array& a, const Array& b) {
  return a.device_type == b.device_type && a.device_id == b.device_id;
}

}  // namespace

bool may_overlap(const Array& a, const Array& b) {
  const auto extent = [](const Array& array) {
    std::int64_t low = 0, high = 0, elements = 1;
    for (int i = 0; i < array.ndim; ++i) {
      elements *= array.shape[i];
      (array.strides[i] < 0 ? low : high) += (array.shape[i] - 1) * array.strides[i];
    }
    const auto element = static_cast<std::int64_t>(element_size(array.dtype));
    const auto* const data = static_cast<const std::byte*>(array.data);
    const std::byte* const end = elements == 0 ? data : data + (high + 1) * element;
    return std::pair(elements == 0 ? data : data + low * element, end);
  };
  const auto [first_a, end_a] = extent(a);
  const auto [first_b, end_b] = extent(b);
  return first_a < end_b && first_b < end_a;
}

void fail_in(const char* function, const std::string& message) {
  fail_value(of_function(function, message));
}

void check_same_kind(const char* function, const Array& a, const Array& b) {
  if (a.dtype != b.dtype) {
    fail_type(of_function(function, differ("a", dtype_name(a.dtype), "b", dtype_name(b.dtype)) +
                                        "; they must have the same dtype"));
  }
  check_same_device(function, a, b);
}

void check_same_device(const char* function, const Array& a, const Array& b) {
  if (!on_same_device(a, b)) {
    fail_in(function, differ("a", "on " + device_text(a), "b", "on " + device_text(b)) +
                          "; they must be on the same device");
  }
}

bool is_mixed(const Array& a, const Array& b) {
  return (a.dtype == RUNG_DTYPE_BF16 && b.dtype == RUNG_DTYPE_F32) ||
         (a.dtype == RUNG_DTYPE_F32 && b.dtype == RUNG_DTYPE_BF16);
}

bool go_together(const Array& a, const Array& b, int dims) {
  return a.ndim == dims && b.ndim == dims && a.dtype == b.dtype && on_same_device(a, b) &&
         a.shape[dims - 1] == b.shape[dims - 2] && (dims == 2 || a.shape[0] == b.shape[0]);
}

void check_out(const char* function, const Array& out, const Array& a, int ndim,
               const std::int64_t* shape) {
  if (out.ndim != ndim || !std::equal(shape, shape + ndim, out.shape)) {
    Array expected;
    expected.ndim = ndim;
    std::copy_n(shape, ndim, expected.shape);
    fail_in(function, "out is " + shape_text(out) + "; the product is " + shape_text(expected));
  }
  if (!on_same_device(out, a)) {
    fail_in(function, differ("out", "on " + device_text(out), "a", "on " + device_text(a)) +
                          "; they must be on the same device");
  }
  if (out.is_read_only) fail_in(function, "out is read-only; it must be writable");
  check_apart(function, "out", out);
}

void check_apart(const char* function, const char* name, const Array& array) {
  if (!may_repeat(array)) return;
  std::string strides;
  for (int i = 0; i < array.ndim; ++i) {
    strides += (i == 0 ? "" : ", ") + std::to_string(array.strides[i]);
  }
  fail_in(function, std::string(name) + " is " + shape_text(array) + " with strides of (" +
                        strides + ") elements, so that some share memory; each must have its own");
}

void check_writable_by_gpu(const char* function, const Array& out, const Matrix& c) {
  if (!out.on_gpu() || is_direct(c)) return;
  fail_in(function,
          "out has strides that a GPU kernel cannot write; one of the last two must be 1");
}

void check_beta(const char* function, double beta, bool has_out) {
  if (beta == 0 || has_out) return;
  char value[32];
  std::snprintf(value, sizeof(value), "%g", beta);
  fail_in(function,
          std::string("beta is ") + value + ", and there is no out to scale; pass out, or 0");
}

std::int32_t default_result(std::int32_t dtype) {
  switch (dtype) {
    case RUNG_DTYPE_F64: return RUNG_DTYPE_F64;
    case RUNG_DTYPE_I32:
    case RUNG_DTYPE_I8: return RUNG_DTYPE_I32;
    default: return RUNG_DTYPE_F32;
  }
}

Arithmetic arithmetic_of(const char* function, std::int32_t dtype, std::string_view math) {
  if (math == "ieee") return {dtype, RUNG_COMPUTE_STANDARD};
  if (math == "split") return {dtype, RUNG_COMPUTE_SPLIT};
  if (math == "reproducible") return {dtype, RUNG_COMPUTE_REPRODUCIBLE};
  if (math == "batch_invariant") return {dtype, RUNG_COMPUTE_BATCH_INVARIANT};
  if (math != "tf32") {
    fail_in(function,
            "math is '" + std::string(math) +
                "'; it must be 'ieee', 'split', 'reproducible', 'batch_invariant' or 'tf32'");
  }
  if (dtype != RUNG_DTYPE_F32) {
    fail_type(of_function(function, std::string("math is 'tf32', a is ") + dtype_name(dtype) +
                                        "; this mode is for float32"));
  }
  return {RUNG_DTYPE_TF32, RUNG_COMPUTE_STANDARD};
}

rung_tensor_options tensor_options(const Arithmetic& arithmetic, void* stream, int threads) {
  rung_tensor_options options = RUNG_TENSOR_OPTIONS_INIT;
  options.stream = stream;
  options.threads = threads;
  options.compute_mode = arithmetic.compute_mode;
  return options;
}

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
    matrix.cols = array.ndim == 0 ? 1 : array.shape[0];
    matrix.col_stride = array.strides[0];
  } else {
    matrix.rows = array.shape[0];
    matrix.cols = 1;
    matrix.row_stride = array.strides[0];
  }
  return matrix;
}

rung_tensor tensor_of(const Matrix& matrix, const Array& array, std::int32_t dtype,
                      MatrixExtents& extents) {
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

rung_tensor batch_of(const Matrix& matrix, const Array& array, std::int32_t dtype,
                     std::int64_t count, std::int64_t step, BatchExtents& extents) {
  const BatchExtents values = {count, matrix.rows,       matrix.cols,
                               step,  matrix.row_stride, matrix.col_stride};
  std::copy(values, values + 6, extents);
  return {matrix.data,
          array.device_type,
          array.device_id,
          3,
          dtype,
          extents,
          matrix.is_empty() ? nullptr : extents + 3};
}

rung_tensor whole(const Array& array) {
  return {array.data,  array.device_type, array.device_id, array.ndim,
          array.dtype, array.shape,       array.strides};
}

Detached::Detached(const Array& operand, const Array& out) : Detached(operand, std::array{&out}) {}

Detached::Detached(const Array& operand, std::span<const Array* const> written)
    : operand_(operand) {
  const auto overlaps = [&](const Array* array) { return may_overlap(operand, *array); };
  if (operand.on_gpu() || std::none_of(written.begin(), written.end(), overlaps)) return;
  copy_ = operand;
  copy_.is_read_only = false;
  std::int64_t elements = 1;
  for (int i = operand.ndim - 1; i >= 0; --i) {
    copy_.strides[i] = elements;
    elements *= operand.shape[i];
  }
  const std::size_t element = element_size(operand.dtype);
  memory_.reset(new std::byte[static_cast<std::size_t>(elements) * element]);
  copy_.data = memory_.get();
  copy_matrices(operand, copy_, 0, static_cast<std::byte*>(operand.data), memory_.get());
}

nb::object contiguous(nb::handle object, nb::handle stream) {
  return nb::module_::import_("rung._interop").attr("contiguous")(object, stream);
}

}  // namespace rung::python
