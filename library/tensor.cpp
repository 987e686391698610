#include "library/tensor.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include "core/dtype.hpp"
#include "library/canonical_batch.hpp"
#include "library/check.hpp"
#include "rung/error.hpp"

namespace rung {
namespace {

[[noreturn]] void fail(const std::string& message) {
  throw Error(Status::invalid_argument, "rung: gemm: " + message);
}

std::string of(const char* matrix, const char* field, std::int64_t value) {
  return std::string(matrix) + ": " + field + " is " + std::to_string(value);
}

// Error paths in code that is instantiated per element type are separate functions, because
// building strings takes more code than the checks.

[[noreturn]] void fail_strides(const char* matrix, std::int64_t row_stride,
                               std::int64_t col_stride) {
  fail(std::string(matrix) + ": strides are " + std::to_string(row_stride) + " and " +
       std::to_string(col_stride) + "; one of them must be 1");
}

[[noreturn]] void fail_pointers(const char* matrix, std::int64_t count) {
  fail(std::string(matrix) + " is null; it must point to " + std::to_string(count) + " pointers");
}

[[noreturn]] void fail_integer(const char* which, double value) {
  fail(std::string(which) + " is " + std::to_string(value) +
       "; for integers it must be a whole number of 32 bits");
}

/// Element types by rung_dtype.
constexpr std::array element_types = unrounded_dtypes;
static_assert(element_types[RUNG_DTYPE_TF32] == Dtype::tf32 &&
              element_types[RUNG_DTYPE_E5M2] == Dtype::e5m2);

std::string type_name(std::int32_t dtype) {
  return std::string(name(element_types[static_cast<std::size_t>(dtype)]));
}

/// Checks everything about a tensor of `ndim` dimensions that does not depend on its element type.
void check_tensor(const char* matrix, const rung_tensor* tensor, int ndim) {
  if (tensor == nullptr) fail(std::string(matrix) + " is null; it must point to a rung_tensor");
  if (tensor->device_type != RUNG_DEVICE_CPU && tensor->device_type != RUNG_DEVICE_CUDA) {
    fail(of(matrix, "device_type", tensor->device_type) + "; it must be 1 (CPU) or 2 (CUDA)");
  }
  if (tensor->device_id < 0 || (tensor->device_type == RUNG_DEVICE_CPU && tensor->device_id > 0)) {
    fail(of(matrix, "device_id", tensor->device_id) +
         (tensor->device_id < 0 ? "; it must be at least 0" : "; that of the CPU must be 0"));
  }
  if (tensor->ndim != ndim) {
    fail(of(matrix, "ndim", tensor->ndim) + "; it must be " + std::to_string(ndim));
  }
  if (tensor->dtype < 0 || static_cast<std::size_t>(tensor->dtype) >= element_types.size()) {
    fail(of(matrix, "dtype", tensor->dtype) + "; it must be a rung_dtype, 0 to " +
         std::to_string(element_types.size() - 1));
  }
  if (tensor->shape == nullptr) {
    fail(std::string(matrix) + ": shape is null; it must point to " + std::to_string(ndim) +
         " extents");
  }
}

void check_same_device(const char* matrix, const rung_tensor& tensor, const rung_tensor& c) {
  if (tensor.device_type == c.device_type && tensor.device_id == c.device_id) return;
  const auto device = [](const rung_tensor& at) {
    return at.device_type == RUNG_DEVICE_CPU ? std::string("the CPU")
                                             : "GPU " + std::to_string(at.device_id);
  };
  fail(std::string(matrix) + " is on " + device(tensor) + ", C on " + device(c) +
       "; all must be on the same device");
}

/// The dtype for the element types of A and B (which must be equal) and C.
Dtype dtype_of_types(const rung_tensor& a, const rung_tensor& b, const rung_tensor& c) {
  if (a.dtype != b.dtype) {
    fail("A is " + type_name(a.dtype) + ", B is " + type_name(b.dtype) +
         "; they must have the same type");
  }
  const Dtype in = element_types[static_cast<std::size_t>(a.dtype)];
  const Dtype out = element_types[static_cast<std::size_t>(c.dtype)];
  std::string allowed;
  for (const Dtype dtype : all_dtypes) {
    if (unrounded(dtype) != in) continue;
    if (output_type(dtype) == out) return dtype;
    if (!allowed.empty()) allowed += " or ";
    allowed += name(output_type(dtype));
  }
  fail("C is " + type_name(c.dtype) + "; with A and B of " + type_name(a.dtype) + " it must be " +
       allowed);
}

/// The view of a tensor's last two dimensions, row-major or column-major.
template <class T>
MatrixView<T> view_of(const char* matrix, const rung_tensor& tensor) {
  const std::int64_t* const shape = tensor.shape + (tensor.ndim - 2);
  const std::int64_t rows = shape[0], cols = shape[1];
  auto* const data = static_cast<T*>(tensor.data);
  if (tensor.strides == nullptr) return {data, rows, cols, cols, Order::row_major};
  const std::int64_t* const strides = tensor.strides + (tensor.ndim - 2);
  const std::int64_t row_stride = strides[0], col_stride = strides[1];
  // The stride of an extent of 1 is ignored.
  if (col_stride == 1 || cols <= 1) {
    return {data, rows, cols, rows <= 1 ? cols : row_stride, Order::row_major};
  }
  if (row_stride == 1 || rows <= 1) {
    return {data, rows, cols, col_stride, Order::col_major};
  }
  fail_strides(matrix, row_stride, col_stride);
}

/// The view of a batch: a tensor of 3 dimensions, or one of 2 with `count` pointers.
template <class T>
BatchView<T> batch_of(const char* matrix, const rung_tensor& tensor, std::int64_t count) {
  const MatrixView<T> view = view_of<T>(matrix, tensor);
  if (count >= 0) {
    // A and B may be null if alpha or k is 0; canonical() checks that.
    const bool is_written = !std::is_const_v<T>;
    if (is_written && tensor.data == nullptr && count > 0) fail_pointers(matrix, count);
    return {view, count, 0, static_cast<T* const*>(tensor.data)};
  }
  std::int64_t dense;
  if (__builtin_mul_overflow(view.rows, view.cols, &dense)) {
    dense = std::numeric_limits<std::int64_t>::max();  // rejected by later checks
  }
  const std::int64_t apart = tensor.strides == nullptr ? dense : tensor.strides[0];
  // The stride of an extent of 1 is ignored.
  return {view, tensor.shape[0], tensor.shape[0] <= 1 ? 0 : apart};
}

/// alpha or beta, converted to the type of the sums.
template <class T>
T scalar(const char* which, double value) {
  if constexpr (std::is_integral_v<T>) {
    const bool fits = value == std::trunc(value) && value >= std::numeric_limits<T>::min() &&
                      value <= std::numeric_limits<T>::max();
    if (!fits) fail_integer(which, value);
  }
  return static_cast<T>(value);
}

/// The public interface's type for a type of the kernels.
template <class T>
using Public = std::conditional_t<std::is_same_v<T, std::uint32_t>, std::int32_t, T>;

/// Checks everything common to three tensors with these numbers of dimensions, except their types.
void check_tensors(const rung_tensor* a, const rung_tensor* b, const rung_tensor* c, int of_a,
                   int of_b, int of_c) {
  check_tensor("A", a, of_a);
  check_tensor("B", b, of_b);
  check_tensor("C", c, of_c);
  check_same_device("A", *a, *c);
  check_same_device("B", *b, *c);
}

/// Also checks that their types are compatible, and returns the dtype of the product.
Dtype checked_dtype(const rung_tensor* a, const rung_tensor* b, const rung_tensor* c, int of_a,
                    int of_b, int of_c) {
  check_tensors(a, b, c, of_a, of_b, of_c);
  return dtype_of_types(*a, *b, *c);
}

}  // namespace

CanonicalCall canonical(const rung_tensor* a, const rung_tensor* b, const rung_tensor* c,
                        double alpha, double beta) {
  const Dtype dtype = checked_dtype(a, b, c, 2, 2, 2);
  return visit(dtype, [&]<class KernelIn, class KernelOut>(Elements<KernelIn, KernelOut>) {
    using In = Public<KernelIn>;
    using Out = Public<KernelOut>;
    return erased(canonical(scalar<Scalar<Out>>("alpha", alpha), view_of<const In>("A", *a),
                            view_of<const In>("B", *b), scalar<Scalar<Out>>("beta", beta),
                            view_of<Out>("C", *c)));
  });
}

bool is_mixed(const rung_tensor* a, const rung_tensor* b) {
  if (a == nullptr || b == nullptr) return false;
  return (a->dtype == RUNG_DTYPE_BF16 && b->dtype == RUNG_DTYPE_F32) ||
         (a->dtype == RUNG_DTYPE_F32 && b->dtype == RUNG_DTYPE_BF16);
}

MixedCall canonical_mixed(const rung_tensor* a, const rung_tensor* b, const rung_tensor* c,
                          double alpha, double beta) {
  check_tensors(a, b, c, 2, 2, 2);
  if (c->dtype != RUNG_DTYPE_F32) {
    fail("C is " + type_name(c->dtype) + "; with A of " + type_name(a->dtype) + " and B of " +
         type_name(b->dtype) + " it must be f32");
  }
  const auto call = [&](const auto& of_a, const auto& of_b) {
    return canonical(scalar<float>("alpha", alpha), of_a, of_b, scalar<float>("beta", beta),
                     view_of<float>("C", *c));
  };
  if (a->dtype == RUNG_DTYPE_BF16) {
    return call(view_of<const bfloat16>("A", *a), view_of<const float>("B", *b));
  }
  return call(view_of<const float>("A", *a), view_of<const bfloat16>("B", *b));
}

CanonicalCall canonical_batch(const rung_tensor* a, const rung_tensor* b, const rung_tensor* c,
                              double alpha, double beta, std::int64_t count) {
  const int ndim = count < 0 ? 3 : 2;
  const Dtype dtype = checked_dtype(a, b, c, ndim, ndim, ndim);
  return visit(dtype, [&]<class KernelIn, class KernelOut>(Elements<KernelIn, KernelOut>) {
    using In = Public<KernelIn>;
    using Out = Public<KernelOut>;
    return canonical(scalar<Scalar<Out>>("alpha", alpha), batch_of<const In>("A", *a, count),
                     batch_of<const In>("B", *b, count), scalar<Scalar<Out>>("beta", beta),
                     batch_of<Out>("C", *c, count));
  });
}

CanonicalGroups canonical_groups(const rung_tensor* a, const rung_tensor* b, const rung_tensor* c,
                                 const std::int32_t* offsets, double alpha, double beta) {
  const bool cuts_k = c != nullptr && c->ndim == 3;
  const Dtype dtype = checked_dtype(a, b, c, 2, cuts_k ? 2 : 3, cuts_k ? 3 : 2);
  return visit(dtype, [&]<class KernelIn, class KernelOut>(Elements<KernelIn, KernelOut>) {
    using In = Public<KernelIn>;
    using Out = Public<KernelOut>;
    const auto of_alpha = scalar<Scalar<Out>>("alpha", alpha);
    const auto of_beta = scalar<Scalar<Out>>("beta", beta);
    const auto of_a = view_of<const In>("A", *a);
    if (cuts_k) {
      return canonical(of_alpha, of_a, view_of<const In>("B", *b), of_beta,
                       batch_of<Out>("C", *c, -1), offsets);
    }
    return canonical(of_alpha, of_a, batch_of<const In>("B", *b, -1), of_beta,
                     view_of<Out>("C", *c), offsets);
  });
}

BlockScaledCall canonical_block_scaled(const rung_tensor* a, const rung_tensor* a_scales,
                                       const rung_tensor* b, const rung_tensor* b_scales,
                                       const rung_tensor* c, const std::int32_t* offsets,
                                       double alpha, double beta) {
  const OutputMatrix of_c = matrix_of("C", c, c);
  const int ndim = offsets == nullptr ? 2 : 3;
  const auto check = [&](const char* matrix, const rung_tensor* tensor, int dimensions,
                         rung_dtype dtype) {
    check_tensor(matrix, tensor, dimensions);
    check_same_device(matrix, *tensor, *c);
    if (tensor->dtype == dtype) return;
    fail(std::string(matrix) + " is " + type_name(tensor->dtype) + "; it must be " +
         type_name(dtype));
  };
  check("A", a, 2, RUNG_DTYPE_E4M3);
  check("A_scales", a_scales, 2, RUNG_DTYPE_F32);
  check("B", b, ndim, RUNG_DTYPE_E4M3);
  check("B_scales", b_scales, ndim, RUNG_DTYPE_F32);
  const BlockScaledMatrix of_a = {view_of<const float8_e4m3>("A", *a),
                                  view_of<const float>("A_scales", *a_scales)};
  if (offsets == nullptr) {
    return canonical(alpha, of_a,
                     BlockScaledMatrix{view_of<const float8_e4m3>("B", *b),
                                       view_of<const float>("B_scales", *b_scales)},
                     beta, of_c);
  }
  const BlockScaledBatch of_b = {batch_of<const float8_e4m3>("B", *b, -1),
                                 batch_of<const float>("B_scales", *b_scales, -1)};
  return canonical(alpha, of_a, of_b, beta, of_c, offsets);
}

OutputMatrix matrix_of(const char* name, const rung_tensor* tensor, const rung_tensor* c) {
  check_tensor(name, tensor, 2);
  check_same_device(name, *tensor, *c);
  const MatrixView<char> view = view_of<char>(name, *tensor);
  return {view.data, static_cast<ElementType>(tensor->dtype), view.rows, view.cols, view.ld,
          view.order};
}

InputVector vector_of(const char* name, const rung_tensor* tensor, const rung_tensor* c) {
  check_tensor(name, tensor, 1);
  check_same_device(name, *tensor, *c);
  const std::int64_t count = tensor->shape[0];
  if (count > 1 && tensor->strides != nullptr && tensor->strides[0] != 1) {
    fail(of(name, "stride", tensor->strides[0]) + "; it must be 1");
  }
  return {tensor->data, static_cast<ElementType>(tensor->dtype), count};
}

}  // namespace rung
