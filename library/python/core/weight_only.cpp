// rung.pack_weights and rung.weight_only_matmul: products by 8-bit or 4-bit weights.

#include "weight_only.hpp"

#include <optional>
#include <string>

#include "array.hpp"
#include "errors.hpp"
#include "matmul.hpp"
#include "operands.hpp"
#include "without_gil.hpp"

namespace rung::python {
namespace {

constexpr const char* pack_function = "pack_weights";
constexpr const char* multiply_function = "weight_only_matmul";

void check_matrix(const char* function, const char* name, const Array& array) {
  if (array.ndim != 2) {
    fail_in(function,
            std::string(name) + " is " + shape_text(array) + "; it must have two dimensions");
  }
}

/// Checks a row-major array of bytes without gaps.
void check_bytes(const char* name, const Array& array) {
  check_matrix(pack_function, name, array);
  if (array.dtype != RUNG_DTYPE_I8) {
    fail_type(std::string(pack_function) + ": " + name + " is " + dtype_name(array.dtype) +
              "; it must be int8");
  }
  if (array.shape[0] > 1 && (array.strides[0] != array.shape[1] || array.strides[1] != 1)) {
    fail_in(pack_function, std::string(name) + " has gaps; it must be row-major without gaps");
  }
}

rung_status pack(const rung_quantized_weights& weights, void* memory, rung_packed_weights& packed,
                 const rung_tensor_options& options, const char*& message) {
  const WithoutGil released;
  const rung_status status = rung_pack_weights(&weights, memory, &packed, &options);
  message = rung_last_error();
  return status;
}

}  // namespace

nb::tuple state_of(const PackedWeights& weights) {
  const rung_packed_weights& w = weights.description;
  return nb::make_tuple(weights.memory, w.n, w.k, w.group, w.bits, w.scales, w.has_zeros, w.format);
}

PackedWeights weights_of(nb::tuple state) {
  PackedWeights weights;
  rung_packed_weights& w = weights.description;
  const bool is_read = state.size() == 8 && nb::try_cast(state[1], w.n) &&
                       nb::try_cast(state[2], w.k) && nb::try_cast(state[3], w.group) &&
                       nb::try_cast(state[4], w.bits) && nb::try_cast(state[5], w.scales) &&
                       nb::try_cast(state[6], w.has_zeros) && nb::try_cast(state[7], w.format);
  if (!is_read) fail_value("PackedWeights: the state is not that of packed weights");
  weights.memory = state[0];
  const Imported memory("memory", weights.memory, access_of(weights.memory), nullptr);
  // Validate the description, because the library trusts it.
  const std::int64_t extents[] = {w.n, w.group > 0 ? w.k / w.group : 0};
  const rung_tensor scales = {nullptr, RUNG_DEVICE_CPU, 0, 2, w.scales, extents, nullptr};
  const std::uint8_t zero = 0;
  const rung_quantized_weights like = {
      nullptr, w.bits, w.n, w.k, w.group, &scales, w.has_zeros != 0 ? &zero : nullptr};
  std::size_t size = 0;
  check(rung_packed_weights_bytes(&like, &size), rung_last_error());
  const Array& bytes = memory.array;
  if (bytes.ndim != 1 || bytes.dtype != RUNG_DTYPE_I8 || bytes.strides[0] != 1 ||
      static_cast<std::size_t>(bytes.shape[0]) != size) {
    fail_value("PackedWeights: memory is " + shape_text(bytes) + " of " + dtype_name(bytes.dtype) +
               "; it must be (" + std::to_string(size) + ",) of int8");
  }
  return weights;
}

PackedWeights pack_weights(nb::handle elements, nb::handle scales, nb::handle zeros, int bits,
                           int threads, nb::handle stream) {
  const Access access = access_of(elements);
  void* const launch = stream_for(elements, access, stream);
  const Imported imported_elements("elements", elements, access, launch);
  const Imported imported_scales("scales", scales, access_of(scales), launch);
  std::optional<Imported> imported_zeros;
  check_bytes("elements", imported_elements.array);
  check_matrix(pack_function, "scales", imported_scales.array);
  const Array& bytes = imported_elements.array;
  if (!zeros.is_none()) {
    imported_zeros.emplace("zeros", zeros, access_of(zeros), launch);
    const Array& given = imported_zeros->array;
    check_bytes("zeros", given);
    if (given.shape[0] != imported_scales.array.shape[0] ||
        given.shape[1] != imported_scales.array.shape[1]) {
      fail_in(pack_function, "zeros are " + shape_text(given) + ", scales are " +
                                 shape_text(imported_scales.array) + "; both must have one shape");
    }
  }
  for (const Array* const other :
       {&imported_scales.array, imported_zeros ? &imported_zeros->array : &bytes}) {
    if (other->device_type == bytes.device_type && other->device_id == bytes.device_id) continue;
    fail_in(pack_function, "arrays are on several devices; all must be on the same one");
  }
  const rung_tensor scales_tensor = whole(imported_scales.array);
  rung_quantized_weights weights = {};
  weights.elements = bytes.data;
  weights.bits = bits;
  weights.n = bytes.shape[0];
  weights.k = bits == 4 ? 2 * bytes.shape[1] : bytes.shape[1];
  const std::int64_t groups = imported_scales.array.shape[1];
  weights.group = groups == 0 ? 128 : weights.k / groups;
  weights.scales = &scales_tensor;
  weights.zeros =
      imported_zeros ? static_cast<const std::uint8_t*>(imported_zeros->array.data) : nullptr;

  std::size_t size = 0;
  check(rung_packed_weights_bytes(&weights, &size), rung_last_error());
  const auto count = static_cast<std::int64_t>(size);
  PackedWeights packed;
  packed.memory = new_array(elements, access, bytes, RUNG_DTYPE_I8, 1, &count);
  const Imported memory("memory", packed.memory, access_of(packed.memory), launch);
  const rung_tensor_options how =
      tensor_options({RUNG_DTYPE_BF16, RUNG_COMPUTE_STANDARD}, launch, threads);
  const char* message = nullptr;
  check(pack(weights, memory.array.data, packed.description, how, message), message);
  return packed;
}

nb::object weight_only_matmul(nb::handle a, const PackedWeights& weights, nb::handle out,
                              nb::handle stream, const MatmulOptions& options) {
  const Access access = access_of(a);
  void* const launch = stream_for(a, access, stream);
  const Imported left("a", a, access, launch);
  check_matrix(multiply_function, "a", left.array);
  check_beta(multiply_function, options.beta, !out.is_none());
  const std::int64_t shape[] = {left.array.shape[0], weights.description.n};
  const nb::object result = out.is_none()
                                ? new_array(a, access, left.array, left.array.dtype, 2, shape)
                                : nb::borrow(out);
  const Imported target("out", result, access_of(result), launch);
  if (!out.is_none()) check_out(multiply_function, target.array, left.array, 2, shape);
  const Imported memory("weights", weights.memory, access_of(weights.memory), launch);
  if (left.array.device_type != memory.array.device_type ||
      left.array.device_id != memory.array.device_id) {
    fail_in(multiply_function,
            "a and the weights are on different devices; both must be on the same one");
  }
  rung_packed_weights packed = weights.description;
  packed.data = memory.array.data;
  if (may_overlap(memory.array, target.array)) {
    fail_in(multiply_function, "out is in the memory of the weights, which must stay as it is");
  }

  const Detached own_a(left.array, target.array);
  const rung_tensor ta = whole(own_a.array()), tc = whole(target.array);
  const rung_tensor_options how =
      tensor_options({left.array.dtype, RUNG_COMPUTE_STANDARD}, launch, options.threads);
  rung_status status;
  const char* message;
  {
    const WithoutGil released;
    status = rung_gemm_weight_only(&ta, &packed, &tc, options.alpha, options.beta, &how);
    message = rung_last_error();
  }
  check(status, message);
  if (!out.is_none()) mark_written(result, access_of(result));
  return result;
}

}  // namespace rung::python
