// rung.matmul with an epilogue: one product of two matrices.

#include <nanobind/stl/string.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "array.hpp"
#include "errors.hpp"
#include "matmul.hpp"
#include "operands.hpp"

namespace rung::python {
namespace {

[[noreturn]] void fail(const std::string& message) { fail_value("matmul: " + message); }

/// An array of Python's as a tensor of the library's.
class Part {
 public:
  Part(const char* name, nb::handle object, void* stream, Grad grad = Grad::refused)
      : imported_(name, object, access_of(object), stream, grad),
        name_(name),
        tensor_(whole(imported_.array)) {}

  const Array& array() const { return imported_.array; }
  const rung_tensor* tensor() const { return &tensor_; }
  void require_dims(int ndim) const {
    if (array().ndim == ndim) return;
    fail(std::string(name_) + " is " + shape_text(array()) + "; with an epilogue it must have " +
         (ndim == 2 ? "two dimensions" : "one dimension"));
  }
  void require_writable() const {
    if (array().is_read_only) fail(std::string(name_) + " is read-only; it must be writable");
  }
  /// One float on the device of another array.
  float* scalar(const Array& a) const {
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
    return static_cast<float*>(array().data);
  }

 private:
  Imported imported_;
  const char* name_;
  rung_tensor tensor_;
};

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

/// The parts of a rung.Epilogue, for as long as this lives.
class Parts {
 public:
  Parts(nb::handle epilogue, const Array& a, void* stream) : stream_(stream) {
    given_.row_scale = vector(row_scale_, epilogue, "row_scale");
    given_.column_scale = vector(column_scale_, epilogue, "column_scale");
    given_.row_bias = vector(row_bias_, epilogue, "row_bias");
    given_.column_bias = vector(column_bias_, epilogue, "column_bias");
    given_.aux = matrix(aux_, epilogue, "aux");
    given_.residual = matrix(residual_, epilogue, "residual");
    given_.activation = activation_of(nb::cast<std::string>(epilogue.attr("activation")));
    given_.gated = nb::cast<bool>(epilogue.attr("gated")) ? 1 : 0;
    given_.scale_a = scalar(scale_a_, epilogue, "scale_a", a);
    given_.scale_b = scalar(scale_b_, epilogue, "scale_b", a);
    given_.result_scale = scalar(result_scale_, epilogue, "result_scale", a);
    given_.result_factor = nb::cast<double>(epilogue.attr("result_factor"));
    given_.amax = scalar(amax_, epilogue, "amax", a);
    if (aux_) aux_->require_writable();
    if (amax_) amax_->require_writable();
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
  float* scalar(std::optional<Part>& part, nb::handle epilogue, const char* name, const Array& a) {
    return read(part, epilogue, name) ? part->scalar(a) : nullptr;
  }

  void* stream_;
  std::optional<Part> row_scale_, column_scale_, row_bias_, column_bias_, aux_, residual_, scale_a_,
      scale_b_, result_scale_, amax_;
  rung_epilogue given_ = RUNG_EPILOGUE_INIT;
};

/// Throws the error of the library, if there is one.
void run(const Part& a, const Part& b, const Part& out, const MatmulOptions& options,
         const rung_epilogue& epilogue, void* stream) {
  rung_tensor_options how = RUNG_TENSOR_OPTIONS_INIT;
  how.stream = stream;
  how.threads = options.threads;
  how.compute_mode = compute_mode_of(options.math);
  rung_status status;
  const char* message;
  {
    const nb::gil_scoped_release released;
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
  const Part left("a", a, launch), right("b", b, launch);
  left.require_dims(2);
  right.require_dims(2);
  const Parts parts(epilogue, left.array(), launch);
  check_beta("matmul", options.beta, !out.is_none());
  const std::int64_t cols = right.array().shape[1] / (parts.given().gated == 1 ? 2 : 1);
  const std::int64_t shape[] = {left.array().shape[0], cols};
  const std::int32_t dtype = left.array().dtype == RUNG_DTYPE_F64 ? RUNG_DTYPE_F64 : RUNG_DTYPE_F32;
  const nb::object result =
      out.is_none() ? new_array(a, by_a, left.array(), dtype, 2, shape) : nb::borrow(out);
  const Part target("out", result, launch);
  target.require_dims(2);
  target.require_writable();
  run(left, right, target, options, parts.given(), launch);
  return result;
}

nb::object rounded_matmul(nb::handle a, nb::handle b, nb::handle bias, double alpha,
                          nb::handle out) {
  const Access by_a = access_of(a);
  void* const launch = stream_for(a, by_a, nb::none());
  const Part left("a", a, launch, Grad::ignored), right("b", b, launch, Grad::ignored);
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
  run(left, right, Part("out", result, launch), {.alpha = alpha}, epilogue, launch);
  return result;
}

}  // namespace rung::python
