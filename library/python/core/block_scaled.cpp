// rung.block_scaled_matmul: products of 8-bit floats with a scale for each block of elements.

#include <optional>
#include <string>

#include "array.hpp"
#include "errors.hpp"
#include "matmul.hpp"
#include "offsets.hpp"
#include "operands.hpp"
#include "without_gil.hpp"

namespace rung::python {
namespace {

constexpr const char* function = "block_scaled_matmul";

void check_types(const Array& a, const Array& b, const char* math) {
  check_same_kind(function, a, b);
  if (a.dtype != RUNG_DTYPE_E4M3) {
    fail_type(std::string(function) + ": a is " + dtype_name(a.dtype) +
              "; it must be float8_e4m3fn");
  }
  const std::string mode = math;
  if (mode != "ieee" && mode != "batch_invariant") {
    fail_in(function, "math is '" + mode + "'; it must be 'ieee' or 'batch_invariant'");
  }
}

void check_dims(const Array& a, const Array& b, bool has_groups) {
  if (a.ndim == 2 && b.ndim == (has_groups ? 3 : 2)) return;
  fail_in(function, "a is " + shape_text(a) + ", b is " + shape_text(b) + "; a must have two " +
                        "dimensions, and b " + (has_groups ? "three with" : "two without") +
                        " offsets");
}

}  // namespace

nb::object block_scaled_matmul(nb::handle a, nb::handle a_scales, nb::handle b, nb::handle b_scales,
                               nb::handle offsets, nb::handle out, nb::handle stream,
                               const MatmulOptions& options) {
  const Access by_a = access_of(a);
  void* const launch = stream_for(a, by_a, stream);
  const auto import = [&](const char* name, nb::handle object) {
    return Imported(name, object, access_of(object), launch);
  };
  const Imported left = import("a", a), left_scales = import("a_scales", a_scales),
                 right = import("b", b), right_scales = import("b_scales", b_scales);
  check_types(left.array, right.array, options.math);
  check_dims(left.array, right.array, !offsets.is_none());
  check_beta(function, options.beta, !out.is_none());
  const Arithmetic arithmetic = arithmetic_of(function, left.array.dtype, options.math);
  std::optional<Offsets> cuts;
  if (!offsets.is_none()) {
    cuts.emplace(function, offsets, a, left.array.on_gpu(), stream, launch);
    cuts->check_count(right.array.shape[0]);
    cuts->check(left.array.shape[0], "rows");
  }
  const std::int64_t shape[] = {left.array.shape[0], right.array.shape[right.array.ndim - 1]};
  const nb::object result =
      out.is_none() ? new_array(a, by_a, left.array, RUNG_DTYPE_F32, 2, shape) : nb::borrow(out);
  const Imported target = import("out", result);
  if (!out.is_none()) check_out(function, target.array, left.array, 2, shape);
  const std::int32_t* groups = nullptr;
  if (cuts) groups = left.array.on_gpu() ? cuts->on_gpu() : cuts->on_host();

  const Detached own_a(left.array, target.array), own_a_scales(left_scales.array, target.array),
      own_b(right.array, target.array), own_b_scales(right_scales.array, target.array);
  const rung_tensor ta = whole(own_a.array()), sa = whole(own_a_scales.array()),
                    tb = whole(own_b.array()), sb = whole(own_b_scales.array()),
                    tc = whole(target.array);
  const rung_tensor_options how = tensor_options(arithmetic, launch, options.threads);
  rung_status status;
  const char* message;
  {
    const WithoutGil released;
    status =
        rung_gemm_block_scaled(&ta, &sa, &tb, &sb, &tc, groups, options.alpha, options.beta, &how);
    message = rung_last_error();
  }
  check(status, message);
  if (!out.is_none()) mark_written(result, access_of(result));
  return result;
}

}  // namespace rung::python
