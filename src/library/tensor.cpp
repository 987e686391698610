#include "library/tensor.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

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

/// The dtypes that are named after the element types, by rung_dtype.
constexpr std::array element_types = {Dtype::f32,  Dtype::f64, Dtype::i32,  Dtype::bf16, Dtype::f16,
                                      Dtype::tf32, Dtype::i8,  Dtype::e4m3, Dtype::e5m2};
static_assert(element_types[RUNG_DTYPE_TF32] == Dtype::tf32 &&
              element_types[RUNG_DTYPE_E5M2] == Dtype::e5m2);

std::string type_name(std::int32_t dtype) {
  return std::string(name(element_types[static_cast<std::size_t>(dtype)]));
}

/// Everything about one tensor that does not depend on its elements' type.
void check_tensor(const char* matrix, const rung_tensor* tensor) {
  if (tensor == nullptr) fail(std::string(matrix) + " is null; it must point to a rung_tensor");
  if (tensor->device_type != RUNG_DEVICE_CPU && tensor->device_type != RUNG_DEVICE_CUDA) {
    fail(of(matrix, "device_type", tensor->device_type) + "; it must be 1 (CPU) or 2 (CUDA)");
  }
  if (tensor->device_id < 0 || (tensor->device_type == RUNG_DEVICE_CPU && tensor->device_id > 0)) {
    fail(of(matrix, "device_id", tensor->device_id) +
         (tensor->device_id < 0 ? "; it must be at least 0" : "; that of the CPU must be 0"));
  }
  if (tensor->ndim != 2) fail(of(matrix, "ndim", tensor->ndim) + "; it must be 2");
  if (tensor->dtype < 0 || static_cast<std::size_t>(tensor->dtype) >= element_types.size()) {
    fail(of(matrix, "dtype", tensor->dtype) + "; it must be a rung_dtype, 0 to " +
         std::to_string(element_types.size() - 1));
  }
  if (tensor->shape == nullptr) {
    fail(std::string(matrix) + ": shape is null; it must point to 2 extents");
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

/// The dtype of element types of A and B, and of C.
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

/// The view of a tensor, by rows or by columns.
template <class T>
MatrixView<T> view_of(const char* matrix, const rung_tensor& tensor) {
  const std::int64_t rows = tensor.shape[0], cols = tensor.shape[1];
  auto* const data = static_cast<T*>(tensor.data);
  if (tensor.strides == nullptr) return {data, rows, cols, cols, Order::row_major};
  const std::int64_t row_stride = tensor.strides[0], col_stride = tensor.strides[1];
  // The stride of an extent of 1 is never used.
  if (col_stride == 1 || cols <= 1) {
    return {data, rows, cols, rows <= 1 ? cols : row_stride, Order::row_major};
  }
  if (row_stride == 1 || rows <= 1) {
    return {data, rows, cols, col_stride, Order::col_major};
  }
  fail(std::string(matrix) + ": strides are " + std::to_string(row_stride) + " and " +
       std::to_string(col_stride) + "; one of them must be 1");
}

/// alpha or beta in the type of the sums.
template <class T>
T scalar(const char* which, double value) {
  if constexpr (std::is_integral_v<T>) {
    const bool fits = value == std::trunc(value) && value >= std::numeric_limits<T>::min() &&
                      value <= std::numeric_limits<T>::max();
    if (!fits) {
      fail(std::string(which) + " is " + std::to_string(value) +
           "; for integers it must be a whole number of 32 bits");
    }
  }
  return static_cast<T>(value);
}

/// The type of the public interface for a type that kernels take.
template <class T>
using Public = std::conditional_t<std::is_same_v<T, std::uint32_t>, std::int32_t, T>;

}  // namespace

CanonicalCall canonical(const rung_tensor* a, const rung_tensor* b, const rung_tensor* c,
                        double alpha, double beta) {
  check_tensor("A", a);
  check_tensor("B", b);
  check_tensor("C", c);
  check_same_device("A", *a, *c);
  check_same_device("B", *b, *c);
  const Dtype dtype = dtype_of_types(*a, *b, *c);
  return visit(dtype, [&]<class KernelIn, class KernelOut>(Elements<KernelIn, KernelOut>) {
    using In = Public<KernelIn>;
    using Out = Public<KernelOut>;
    return erased(canonical(scalar<Scalar<Out>>("alpha", alpha), view_of<const In>("A", *a),
                            view_of<const In>("B", *b), scalar<Scalar<Out>>("beta", beta),
                            view_of<Out>("C", *c)));
  });
}

}  // namespace rung
