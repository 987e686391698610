// The C interface for types that are known at run time, on the CPU and on GPUs.

#include <cstddef>
#include <string>

#include "library/c_api.hpp"
#include "library/check.hpp"
#include "library/cuda/block_scaled.hpp"
#include "library/cuda/context_cache.hpp"
#include "library/cuda/epilogue.hpp"
#include "library/cuda/gemm.hpp"
#include "library/cuda/gemm_batched.hpp"
#include "library/cuda/gemm_grouped.hpp"
#include "library/cuda/mixed.hpp"
#include "library/cuda/weight_only.hpp"
#include "library/epilogue.hpp"
#include "library/gemm.hpp"
#include "library/gemm_batched.hpp"
#include "library/gemm_grouped.hpp"
#include "library/mode_environment.hpp"
#include "library/tensor.hpp"
#include "library/weight_only.hpp"

namespace rung::c_api {
namespace {

void check_device(int wanted) {
  const int current = cuda::current_context().device();
  if (current == wanted) return;
  throw Error(Status::invalid_argument,
              "rung: gemm: the operands are on GPU " + std::to_string(wanted) +
                  "; the current context is of GPU " + std::to_string(current));
}

GemmOptions cpu_options(const rung_tensor_options& options) {
  return {.threads = options.threads,
          .compute_mode = static_cast<ComputeMode>(options.compute_mode)};
}

CudaOptions gpu_options(const rung_tensor_options& options) {
  return {.workspace = options.workspace,
          .workspace_bytes = options.workspace_bytes,
          .multiprocessors = options.multiprocessors,
          .compute_mode = static_cast<ComputeMode>(options.compute_mode)};
}

void run(const CanonicalCall& call, const rung_tensor& c, const rung_tensor_options& options) {
  if (c.device_type == RUNG_DEVICE_CPU) return cpu::gemm(call, cpu_options(options));
  if (call.call.m == 0 || call.call.n == 0) return;
  check_device(c.device_id);
  cuda::gemm(call, static_cast<cuda::Stream>(options.stream), gpu_options(options));
}

void run_mixed(const MixedCall& call, const rung_tensor& c, const rung_tensor_options& options) {
  if (c.device_type == RUNG_DEVICE_CPU) return cpu::gemm_mixed(call, cpu_options(options));
  if (call.product.call.m == 0 || call.product.call.n == 0) return;
  check_device(c.device_id);
  cuda::gemm_mixed(call, static_cast<cuda::Stream>(options.stream), gpu_options(options));
}

void run_batch(const CanonicalCall& call, const rung_tensor& c,
               const rung_tensor_options& options) {
  if (c.device_type == RUNG_DEVICE_CPU) return cpu::gemm_batched(call, cpu_options(options));
  if (call.call.batch == 0) return;
  check_device(c.device_id);
  cuda::gemm_batched(call, static_cast<cuda::Stream>(options.stream),
                     {.gemm = gpu_options(options), .status = options.batch_status});
}

void run_groups(const CanonicalGroups& groups, const rung_tensor& c,
                const rung_tensor_options& options) {
  if (c.device_type == RUNG_DEVICE_CPU) return cpu::gemm_grouped(groups, cpu_options(options));
  if (groups.grouped.call.batch == 0) return;
  check_device(c.device_id);
  cuda::gemm_grouped(groups, static_cast<cuda::Stream>(options.stream),
                     {.gemm = gpu_options(options), .status = options.batch_status});
}

void run_block_scaled(const BlockScaledCall& call, const rung_tensor& c,
                      const rung_tensor_options& options) {
  check::mode_of_block_scales(static_cast<ComputeMode>(options.compute_mode));
  if (c.device_type == RUNG_DEVICE_CPU) return cpu::gemm_block_scaled(call, cpu_options(options));
  if (call.product.call.batch == 0) return;
  check_device(c.device_id);
  cuda::gemm_block_scaled(call, static_cast<cuda::Stream>(options.stream),
                          {.gemm = gpu_options(options), .status = options.batch_status});
}

QuantizedWeights quantized(const rung_quantized_weights* given) {
  if (given == nullptr) {
    throw Error(Status::invalid_argument,
                "rung: weights is null; it must point to a rung_quantized_weights");
  }
  const OutputMatrix scales = matrix_of("scales", given->scales, given->scales);
  return {.elements = given->elements,
          .bits = given->bits,
          .n = given->n,
          .k = given->k,
          .group = given->group,
          .scales = {scales.data, scales.type, scales.rows, scales.cols, scales.ld, scales.order},
          .zeros = given->zeros};
}

PackedWeights pack(const QuantizedWeights& weights, void* memory, const rung_tensor& scales,
                   const rung_tensor_options& options) {
  const PackCall call = canonical(weights, memory);
  if (scales.device_type == RUNG_DEVICE_CPU) return cpu::pack_weights(call, cpu_options(options));
  check_device(scales.device_id);
  return cuda::pack_weights(call, static_cast<cuda::Stream>(options.stream));
}

PackedWeights packed(const rung_packed_weights* given) {
  if (given == nullptr) {
    throw Error(Status::invalid_argument,
                "rung: weights is null; it must point to a rung_packed_weights");
  }
  if (given->has_zeros != 0 && given->has_zeros != 1) {
    throw Error(Status::invalid_argument, "rung: gemm_weight_only: has_zeros is " +
                                              std::to_string(given->has_zeros) +
                                              "; it must be 0 or 1");
  }
  return {.data = given->data,
          .n = given->n,
          .k = given->k,
          .bits = given->bits,
          .group = given->group,
          .scales = static_cast<ElementType>(given->scales),
          .has_zeros = given->has_zeros != 0,
          .format = given->format};
}

void run_weight_only(const rung_tensor* a, const rung_packed_weights* weights, const rung_tensor* c,
                     double alpha, double beta, const rung_tensor_options& options) {
  const OutputMatrix of_c = matrix_of("C", c, c), of_a = matrix_of("A", a, c);
  check::mode_of_weight_only(static_cast<ComputeMode>(options.compute_mode));
  const WeightOnlyCall call =
      canonical(alpha, {of_a.data, of_a.type, of_a.rows, of_a.cols, of_a.ld, of_a.order},
                packed(weights), beta, of_c);
  if (c->device_type == RUNG_DEVICE_CPU) return cpu::gemm_weight_only(call, cpu_options(options));
  if (call.product.m == 0 || call.product.n == 0) return;
  check_device(c->device_id);
  cuda::gemm_weight_only(call, static_cast<cuda::Stream>(options.stream), gpu_options(options));
}

void check_options(const rung_tensor_options& options) {
  check::threads("gemm", options.threads);
  check::multiprocessors("gemm", options.multiprocessors);
  check::compute_mode("gemm", static_cast<ComputeMode>(options.compute_mode));
  check::workspace("gemm", options.workspace, options.workspace_bytes);
  require(options.reserved == 0, "reserved of the options", options.reserved, "0");
}

Epilogue epilogue_of(const rung_epilogue& given, const rung_tensor* c) {
  require(given.gated == 0 || given.gated == 1, "gated of the epilogue", given.gated, "0 or 1");
  const auto vector = [c](const char* name, const rung_tensor* tensor) {
    return tensor == nullptr ? InputVector{} : vector_of(name, tensor, c);
  };
  const auto matrix = [c](const char* name, const rung_tensor* tensor) {
    return tensor == nullptr ? OutputMatrix{} : matrix_of(name, tensor, c);
  };
  const OutputMatrix residual = matrix("residual", given.residual);
  return {.row_scale = vector("row_scale", given.row_scale),
          .column_scale = vector("column_scale", given.column_scale),
          .row_bias = vector("row_bias", given.row_bias),
          .column_bias = vector("column_bias", given.column_bias),
          .activation = static_cast<Activation>(given.activation),
          .gated = given.gated == 1,
          .aux = matrix("aux", given.aux),
          .residual = {residual.data, residual.type, residual.rows, residual.cols, residual.ld,
                       residual.order},
          .scale_a = given.scale_a,
          .scale_b = given.scale_b,
          .result_scale = given.result_scale,
          .result_factor = given.result_factor,
          .amax = given.amax};
}

void run_epilogue(const rung_tensor* a, const rung_tensor* b, const rung_tensor* c, double alpha,
                  double beta, const rung_epilogue& given, const rung_tensor_options& options) {
  const OutputMatrix of_c = matrix_of("C", c, c);
  const auto input = [c](const char* name, const rung_tensor* tensor) {
    const OutputMatrix view = matrix_of(name, tensor, c);
    return InputMatrix{view.data, view.type, view.rows, view.cols, view.ld, view.order};
  };
  const EpilogueCall call =
      canonical(alpha, input("A", a), input("B", b), beta, of_c, epilogue_of(given, c));
  if (c->device_type == RUNG_DEVICE_CPU) return cpu::gemm_epilogue(call, cpu_options(options));
  if (call.epilogue.m == 0 || call.epilogue.n == 0) return;
  check_device(c->device_id);
  cuda::gemm_epilogue(call, static_cast<cuda::Stream>(options.stream), gpu_options(options));
}

/// Checks options and converts them to the current version of the structure.
rung_tensor_options read_checked(const rung_tensor_options* options) {
  constexpr std::size_t first_version = offsetof(rung_tensor_options, batch_status);
  const auto read =
      read_options(options, RUNG_TENSOR_OPTIONS_INIT, first_version, "sizeof(rung_tensor_options)");
  check_options(read);
  return read;
}

/// Calls body with checked options, in the floating-point environment of their mode.
template <class Body>
rung_status with_options(const rung_tensor_options* options, const Body& body) {
  return guarded([&] {
    const auto read = read_checked(options);
    const auto environment = environment_of(static_cast<ComputeMode>(read.compute_mode));
    body(read);
  });
}

}  // namespace
}  // namespace rung::c_api

extern "C" rung_status rung_gemm(const rung_tensor* a, const rung_tensor* b, const rung_tensor* c,
                                 double alpha, double beta, const rung_tensor_options* options) {
  using namespace rung::c_api;
  return with_options(options, [&](const auto& read) {
    if (c != nullptr && c->ndim == 3) {
      run_batch(rung::canonical_batch(a, b, c, alpha, beta), *c, read);
    } else if (rung::is_mixed(a, b)) {
      const rung::MixedCall call = rung::canonical_mixed(a, b, c, alpha, beta);
      run_mixed(call, *c, read);
    } else {
      const rung::CanonicalCall call = rung::canonical(a, b, c, alpha, beta);
      run(call, *c, read);
    }
  });
}

extern "C" rung_status rung_gemm_pointers(int64_t count, const rung_tensor* a, const rung_tensor* b,
                                          const rung_tensor* c, double alpha, double beta,
                                          const rung_tensor_options* options) {
  using namespace rung::c_api;
  return with_options(options, [&](const auto& read) {
    require(count >= 0, "count", count, "at least 0");
    const rung::CanonicalCall call = rung::canonical_batch(a, b, c, alpha, beta, count);
    run_batch(call, *c, read);
  });
}

extern "C" rung_status rung_gemm_grouped(const rung_tensor* a, const rung_tensor* b,
                                         const rung_tensor* c, const int32_t* offsets, double alpha,
                                         double beta, const rung_tensor_options* options) {
  using namespace rung::c_api;
  return with_options(options, [&](const auto& read) {
    const rung::CanonicalGroups groups = rung::canonical_groups(a, b, c, offsets, alpha, beta);
    run_groups(groups, *c, read);
  });
}

extern "C" rung_status rung_gemm_epilogue(const rung_tensor* a, const rung_tensor* b,
                                          const rung_tensor* c, double alpha, double beta,
                                          const rung_epilogue* epilogue,
                                          const rung_tensor_options* options) {
  using namespace rung::c_api;
  return with_options(options, [&](const auto& read) {
    const auto parts =
        read_options(epilogue, RUNG_EPILOGUE_INIT, sizeof(rung_epilogue), "sizeof(rung_epilogue)");
    run_epilogue(a, b, c, alpha, beta, parts, read);
  });
}

extern "C" rung_status rung_gemm_block_scaled(const rung_tensor* a, const rung_tensor* a_scales,
                                              const rung_tensor* b, const rung_tensor* b_scales,
                                              const rung_tensor* c, const int32_t* offsets,
                                              double alpha, double beta,
                                              const rung_tensor_options* options) {
  using namespace rung::c_api;
  return with_options(options, [&](const auto& read) {
    const rung::BlockScaledCall call =
        rung::canonical_block_scaled(a, a_scales, b, b_scales, c, offsets, alpha, beta);
    run_block_scaled(call, *c, read);
  });
}

extern "C" rung_status rung_packed_weights_bytes(const rung_quantized_weights* weights,
                                                 size_t* bytes) {
  using namespace rung::c_api;
  return guarded([&] {
    if (bytes == nullptr) {
      throw rung::Error(rung::Status::invalid_argument,
                        "rung: bytes is null; it must point to the result");
    }
    *bytes = rung::packed_weights_bytes(quantized(weights));
  });
}

extern "C" rung_status rung_pack_weights(const rung_quantized_weights* weights, void* memory,
                                         rung_packed_weights* packed,
                                         const rung_tensor_options* options) {
  using namespace rung::c_api;
  return with_options(options, [&](const auto& read) {
    if (packed == nullptr) {
      throw rung::Error(rung::Status::invalid_argument,
                        "rung: packed is null; it must point to a rung_packed_weights");
    }
    const rung::QuantizedWeights checked = quantized(weights);
    const rung::PackedWeights made = pack(checked, memory, *weights->scales, read);
    *packed = {made.data,
               made.n,
               made.k,
               made.group,
               made.bits,
               static_cast<int32_t>(made.scales),
               made.has_zeros ? 1 : 0,
               made.format};
  });
}

extern "C" rung_status rung_gemm_weight_only(const rung_tensor* a,
                                             const rung_packed_weights* weights,
                                             const rung_tensor* c, double alpha, double beta,
                                             const rung_tensor_options* options) {
  using namespace rung::c_api;
  return with_options(options,
                      [&](const auto& read) { run_weight_only(a, weights, c, alpha, beta, read); });
}
