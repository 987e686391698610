// rung.dot

#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "array.hpp"
#include "errors.hpp"
#include "matmul.hpp"
#include "without_gil.hpp"

namespace rung::python {
namespace {

[[noreturn]] void fail(const std::string& message) { fail_value("dot: " + message); }
[[noreturn]] void fail_dtype(const std::string& message) { fail_type("dot: " + message); }

std::int32_t mode_of(std::string_view mode) {
  constexpr std::string_view names[] = {"fast", "deterministic", "compensated", "reproducible"};
  for (std::int32_t i = 0; i < 4; ++i) {
    if (mode == names[i]) return i;
  }
  fail("mode is '" + std::string(mode) +
       "'; it must be 'fast', 'deterministic', 'compensated' or 'reproducible'");
}

void check_operands(const Array& x, const Array& y) {
  const auto differ = [](const std::string& of_x, const std::string& of_y) {
    return "x is " + of_x + ", y is " + of_y;
  };
  if (x.ndim != 1 || y.ndim != 1) {
    fail(differ(shape_text(x), shape_text(y)) + "; each must have one dimension");
  }
  if (x.shape[0] != y.shape[0]) {
    fail(differ(shape_text(x), shape_text(y)) + "; they must have the same length");
  }
  if (x.dtype != y.dtype) {
    fail_dtype(differ(dtype_name(x.dtype), dtype_name(y.dtype)) +
               "; they must have the same dtype");
  }
  if (x.device_type != y.device_type || x.device_id != y.device_id) {
    fail(differ("on " + device_text(x), "on " + device_text(y)) +
         "; they must be on the same device");
  }
}

void check_out(const Array& out, const Array& x, std::int32_t dtype) {
  std::int64_t count = 1;
  for (int i = 0; i < out.ndim; ++i) count *= out.shape[i];
  if (count != 1) fail("out is " + shape_text(out) + "; it must have one element");
  if (out.dtype != dtype) {
    fail_dtype(std::string("out is ") + dtype_name(out.dtype) + "; with x of " +
               dtype_name(x.dtype) + " it must be " + dtype_name(dtype));
  }
  if (out.device_type != x.device_type || out.device_id != x.device_id) {
    fail("out is on " + device_text(out) + ", x is on " + device_text(x) +
         "; they must be on the same device");
  }
  if (out.is_read_only) fail("out is read-only; it must be writable");
}

/// The first element in memory, at which BLAS starts for either sign of the increment.
template <class T>
const T* first(const Array& x) {
  const auto* const data = static_cast<const T*>(x.data);
  return x.strides[0] < 0 && x.shape[0] > 0 ? data + (x.shape[0] - 1) * x.strides[0] : data;
}

struct Call {
  const Array &x, &y;
  std::int32_t mode;
  int threads;
  void* stream;
  bool result_on_host;

  template <class T, class Result>
  rung_status with(rung_status (*on_cpu)(int64_t, const T*, int64_t, const T*, int64_t, Result*,
                                         const rung_dot_options*),
                   rung_status (*on_gpu)(int64_t, const T*, int64_t, const T*, int64_t, Result*,
                                         void*, const rung_cuda_dot_options*),
                   void* result) const {
    auto* const target = static_cast<Result*>(result);
    if (!x.on_gpu()) {
      rung_dot_options options = RUNG_DOT_OPTIONS_INIT;
      options.threads = threads;
      options.mode = mode;
      return on_cpu(x.shape[0], first<T>(x), x.strides[0], first<T>(y), y.strides[0], target,
                    &options);
    }
    rung_cuda_dot_options options = RUNG_CUDA_DOT_OPTIONS_INIT;
    options.mode = mode;
    options.result_on_host = result_on_host ? 1 : 0;
    return on_gpu(x.shape[0], first<T>(x), x.strides[0], first<T>(y), y.strides[0], target, stream,
                  &options);
  }

  rung_status run(void* result) const {
    switch (x.dtype) {
      case RUNG_DTYPE_F32: return with(rung_dot_f32, rung_cuda_dot_f32, result);
      case RUNG_DTYPE_F64: return with(rung_dot_f64, rung_cuda_dot_f64, result);
      case RUNG_DTYPE_BF16: return with(rung_dot_bf16, rung_cuda_dot_bf16, result);
      default: return with(rung_dot_f16, rung_cuda_dot_f16, result);
    }
  }
};

bool has_dot(std::int32_t dtype) {
  return dtype == RUNG_DTYPE_F32 || dtype == RUNG_DTYPE_F64 || dtype == RUNG_DTYPE_BF16 ||
         dtype == RUNG_DTYPE_F16;
}

}  // namespace

nb::object dot(nb::handle x, nb::handle y, const char* mode, nb::handle out, int threads,
               nb::handle stream) {
  const Access by_x = access_of(x);
  void* const launch = stream_for(x, by_x, stream);
  const Imported left("x", x, by_x, launch), right("y", y, access_of(y), launch);
  check_operands(left.array, right.array);
  if (!has_dot(left.array.dtype)) {
    fail_dtype(std::string("x is ") + dtype_name(left.array.dtype) +
               "; it must be float32, float64, bfloat16 or float16");
  }
  const std::int32_t dtype = left.array.dtype == RUNG_DTYPE_F64 ? RUNG_DTYPE_F64 : RUNG_DTYPE_F32;
  std::optional<Imported> target;
  if (!out.is_none()) {
    check_out(target.emplace("out", out, access_of(out), launch).array, left.array, dtype);
  }
  double own = 0;  // holds a double or a float
  const Call call{left.array, right.array, mode_of(mode), threads, launch, !target.has_value()};
  rung_status status;
  const char* message;
  {
    const WithoutGil released;
    status = call.run(target ? target->array.data : &own);
    message = rung_last_error();
  }
  check(status, message);
  if (target) {
    mark_written(out, access_of(out));
    return nb::borrow(out);
  }
  float single;
  std::memcpy(&single, &own, sizeof(single));
  return nb::float_(dtype == RUNG_DTYPE_F64 ? own : static_cast<double>(single));
}

}  // namespace rung::python
