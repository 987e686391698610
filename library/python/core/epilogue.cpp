// rung.matmul with an epilogue: one product of two matrices.

#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "array.hpp"
#include "errors.hpp"
#include "matmul.hpp"
#include "operands.hpp"
#include "without_gil.hpp"

namespace rung::python {
namespace {

[[noreturn]] void fail(const std::string& message) { fail_value("matmul: " + message); }

/// A Python array as a tensor of the library.
class Part {
 public:
  Part(const char* name, nb::handle object, void* stream, Grad grad = Grad::refused)
      : object_(nb::borrow(object)),
        access_(access_of(object)),
        imported_(name, object, access_, stream, grad),
        name_(name),
        tensor_(whole(imported_.array)) {}

  const Array& array() const { return imported_.array; }
  const rung_tensor* tensor() const { return &tensor_; }
  /// A single float, passed by address.
  float* scalar() const { return static_cast<float*>(tensor_.data); }

  /// Makes the call read a copy of this array if it might overwrite elements before reading them.
  void detach(std::span<const Array* const> written) {
    tensor_ = whole(own_.emplace(array(), written).array());
  }
  /// True if both arrays refer to the same elements.
  bool is_same_as(const Part& other) const {
    const Array &one = array(), &two = other.array();
    return one.data == two.data && one.dtype == two.dtype && one.ndim == two.ndim &&
           std::equal(one.strides, one.strides + one.ndim, two.strides);
  }
  void mark_written() const { rung::python::mark_written(object_, access_); }
  void require_dims(int ndim) const {
    if (array().ndim == ndim) return;
    fail(std::string(name_) + " is " + shape_text(array()) + "; with an epilogue it must have " +
         (ndim == 2 ? "two dimensions" : "one dimension"));
  }
  void require_writable() const {
    if (array().is_read_only) fail(std::string(name_) + " is read-only; it must be writable");
    check_apart("matmul", name_, array());
  }
  void require_apart_from(const Part& other) const {
    if (array().on_gpu() || !may_overlap(array(), other.array())) return;
    fail(std::string(name_) + " and " + other.name_ + " overlap; each must have memory of its own");
  }
  /// Checks that the array is one float on the device of another array.
  void require_scalar(const Array& a) const {
    std::int64_t count = 1;
    for (int i = 0; i < array().ndim; ++i) count *= array().shape[i];
    if (count != 1 || array().dtype != RUNG_DTYPE_F32) {
      fail(std::string(name_) + " is " + shape_text(array()) + " of " + dtype_name(array().dtype) +
           "; it must be one float32");
    }
    if (array().device_type != a.device_type || array().device_id != a.device_id) {
      fail(std::string(name_) + " is on " + device_text(array()) + ", a is on " + device_text(a) +
           "; they must be on the same device");
    }
  }

 private:
  nb::object object_;
  Access access_;
  Imported imported_;
  const char* name_;
  rung_tensor tensor_;
  std::optional<Detached> own_;
};

/// A field of a rung.Epilogue that is not an array.
template <class T>
T field(nb::handle epilogue, const char* name, const char* allowed) {
  const nb::object value = epilogue.attr(name);
  T result;
  if (!nb::try_cast(value, result)) {
    fail_type(std::string("matmul: ") + name + " is " + nb::cast<std::string>(nb::repr(value)) +
              "; it must be " + allowed);
  }
  return result;
}

std::int32_t activation_of(const std::string& name) {
  constexpr std::array<std::string_view, 5> names = {"none", "relu", "gelu_tanh", "gelu_erf",
                                                     "silu"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (name == names[i]) return static_cast<std::int32_t>(i);
  }
  fail("activation is '" + name +
       "'; it must be 'none', 'relu', 'gelu_tanh', 'gelu_erf' or 'silu'");
}

std::int32_t compute_mode_of(std::string_view math) {
  if (math == "split") return RUNG_COMPUTE_SPLIT;
  if (math == "reproducible") return RUNG_COMPUTE_REPRODUCIBLE;
  if (math == "batch_invariant") return RUNG_COMPUTE_BATCH_INVARIANT;
  if (math == "ieee") return RUNG_COMPUTE_STANDARD;
  fail("math is '" + std::string(math) +
       "'; with an epilogue it must be 'ieee', 'split', 'reproducible' or 'batch_invariant'");
}

void check_is_epilogue(nb::handle object) {
  static PyObject* const type = kept("rung._epilogue", "Epilogue");
  if (nb::isinstance(object, nb::handle(type))) return;
  fail_type("matmul: epilogue is " + nb::cast<std::string>(nb::repr(object)) +
            "; it must be a rung.Epilogue");
}

/// The operands of a rung.Epilogue, for the lifetime of this object.
class Parts {
 public:
  Parts(nb::handle epilogue, const Array& a, void* stream) : stream_(stream) {
    check_is_epilogue(epilogue);
    given_.row_scale = vector(row_scale_, epilogue, "row_scale");
    given_.column_scale = vector(column_scale_, epilogue, "column_scale");
    given_.row_bias = vector(row_bias_, epilogue, "row_bias");
    given_.column_bias = vector(column_bias_, epilogue, "column_bias");
    given_.aux = matrix(aux_, epilogue, "aux");
    given_.residual = matrix(residual_, epilogue, "residual");
    given_.activation = activation_of(field<std::string>(epilogue, "activation", "a str"));
    given_.gated = field<bool>(epilogue, "gated", "a bool") ? 1 : 0;
    scalar(scale_a_, epilogue, "scale_a", a);
    scalar(scale_b_, epilogue, "scale_b", a);
    scalar(result_scale_, epilogue, "result_scale", a);
    given_.result_factor = field<double>(epilogue, "result_factor", "a float");
    scalar(amax_, epilogue, "amax", a);
    if (aux_) aux_->require_writable();
    if (amax_) amax_->require_writable();
  }

  /// Copies operands as needed, so that the call is correct for any overlap with out, aux and amax.
  void detach(Part& a, Part& b, const Part& out) {
    std::vector<const Array*> written = {&out.array()};
    for (const std::optional<Part>* const part : {&aux_, &amax_}) {
      if (!*part) continue;
      (*part)->require_apart_from(out);
      written.push_back(&(*part)->array());
    }
    if (aux_ && amax_) amax_->require_apart_from(*aux_);
    a.detach(written);
    b.detach(written);
    for (std::optional<Part>* const part : {&row_scale_, &column_scale_, &row_bias_, &column_bias_,
                                            &residual_, &scale_a_, &scale_b_, &result_scale_}) {
      const bool is_read_where_written =
          part == &residual_ && residual_ && given_.gated == 0 && residual_->is_same_as(out);
      if (*part && !is_read_where_written) (*part)->detach(written);
    }
    given_.scale_a = scale_a_ ? scale_a_->scalar() : nullptr;
    given_.scale_b = scale_b_ ? scale_b_->scalar() : nullptr;
    given_.result_scale = result_scale_ ? result_scale_->scalar() : nullptr;
    given_.amax = amax_ ? amax_->scalar() : nullptr;
  }

  void mark_written() const {
    if (aux_) aux_->mark_written();
    if (amax_) amax_->mark_written();
  }

  const rung_epilogue& given() const { return given_; }

 private:
  bool read(std::optional<Part>& part, nb::handle epilogue, const char* name) {
    const nb::object object = epilogue.attr(name);
    if (object.is_none()) return false;
    part.emplace(name, object, stream_);
    return true;
  }
  const rung_tensor* vector(std::optional<Part>& part, nb::handle epilogue, const char* name) {
    if (!read(part, epilogue, name)) return nullptr;
    part->require_dims(1);
    return part->tensor();
  }
  const rung_tensor* matrix(std::optional<Part>& part, nb::handle epilogue, const char* name) {
    if (!read(part, epilogue, name)) return nullptr;
    part->require_dims(2);
    return part->tensor();
  }
  void scalar(std::optional<Part>& part, nb::handle epilogue, const char* name, const Array& a) {
    if (read(part, epilogue, name)) part->require_scalar(a);
  }

  void* stream_;
  std::optional<Part> row_scale_, column_scale_, row_bias_, column_bias_, aux_, residual_, scale_a_,
      scale_b_, result_scale_, amax_;
  rung_epilogue given_ = RUNG_EPILOGUE_INIT;
};

/// Runs the call; throws the library's error, if any.
void run(const Part& a, const Part& b, const Part& out, const MatmulOptions& options,
         const rung_epilogue& epilogue, void* stream) {
  rung_tensor_options how = RUNG_TENSOR_OPTIONS_INIT;
  how.stream = stream;
  how.threads = options.threads;
  how.compute_mode = compute_mode_of(options.math);
  rung_status status;
  const char* message;
  {
    const WithoutGil released;
    status = rung_gemm_epilogue(a.tensor(), b.tensor(), out.tensor(), options.alpha, options.beta,
                                &epilogue, &how);
    message = rung_last_error();
  }
  check(status, message);
}

}  // namespace

nb::object matmul_with_epilogue(nb::handle a, nb::handle b, nb::handle out, nb::handle stream,
                                const MatmulOptions& options, nb::handle epilogue) {
  const Access by_a = access_of(a);
  void* const launch = stream_for(a, by_a, stream);
  Part left("a", a, launch), right("b", b, launch);
  left.require_dims(2);
  right.require_dims(2);
  Parts parts(epilogue, left.array(), launch);
  check_beta("matmul", options.beta, !out.is_none());
  const std::int64_t cols = right.array().shape[1] / (parts.given().gated == 1 ? 2 : 1);
  const std::int64_t shape[] = {left.array().shape[0], cols};
  const std::int32_t dtype = left.array().dtype == RUNG_DTYPE_F64 ? RUNG_DTYPE_F64 : RUNG_DTYPE_F32;
  const nb::object result =
      out.is_none() ? new_array(a, by_a, left.array(), dtype, 2, shape) : nb::borrow(out);
  const Part target("out", result, launch);
  target.require_dims(2);
  target.require_writable();
  parts.detach(left, right, target);
  run(left, right, target, options, parts.given(), launch);
  if (!out.is_none()) target.mark_written();
  parts.mark_written();
  return result;
}

nb::object rounded_matmul(nb::handle a, nb::handle b, nb::handle bias, double alpha,
                          nb::handle out) {
  const Access by_a = access_of(a);
  void* const launch = stream_for(a, by_a, nb::none());
  Part left("a", a, launch, Grad::ignored), right("b", b, launch, Grad::ignored);
  if (!go_together(left.array(), right.array(), 2)) return nb::none();
  if (!is_direct(matrix_of(left.array(), true)) || !is_direct(matrix_of(right.array(), false))) {
    return nb::none();
  }
  const std::int64_t shape[] = {left.array().shape[0], right.array().shape[1]};
  rung_epilogue epilogue = RUNG_EPILOGUE_INIT;
  std::optional<Part> column_bias;
  if (!bias.is_none()) {
    const Array& added = column_bias.emplace("bias", bias, launch, Grad::ignored).array();
    if (added.ndim != 1 || added.shape[0] != shape[1] || added.strides[0] != 1) return nb::none();
    epilogue.column_bias = column_bias->tensor();
  }
  const nb::object result = out.is_none()
                                ? new_array(a, by_a, left.array(), left.array().dtype, 2, shape)
                                : nb::borrow(out);
  const Part target("out", result, launch, Grad::ignored);
  const Array* const written[] = {&target.array()};
  left.detach(written);
  right.detach(written);
  if (column_bias) column_bias->detach(written);
  run(left, right, target, {.alpha = alpha}, epilogue, launch);
  return result;
}

}  // namespace rung::python
