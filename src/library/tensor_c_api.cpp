// The C interface for types that are known at run time, on the CPU and on GPUs.

#include <cstddef>
#include <string>

#include "library/c_api.hpp"
#include "library/check.hpp"
#include "library/cuda/context_cache.hpp"
#include "library/cuda/gemm.hpp"
#include "library/gemm.hpp"
#include "library/tensor.hpp"

namespace rung::c_api {
namespace {

void check_device(int wanted) {
  const int current = cuda::current_context().device();
  if (current == wanted) return;
  throw Error(Status::invalid_argument,
              "rung: gemm: the operands are on GPU " + std::to_string(wanted) +
                  "; the current context is of GPU " + std::to_string(current));
}

void run_on_cpu(const CanonicalCall& call, const rung_tensor_options& options) {
  cpu::gemm(call, {.threads = options.threads,
                   .compute_mode = static_cast<ComputeMode>(options.compute_mode)});
}

void run_on_gpu(const CanonicalCall& call, int device, const rung_tensor_options& options) {
  if (call.call.m == 0 || call.call.n == 0) return;
  check_device(device);
  cuda::gemm(call, static_cast<cuda::Stream>(options.stream),
             {.workspace = options.workspace,
              .workspace_bytes = options.workspace_bytes,
              .multiprocessors = options.multiprocessors,
              .compute_mode = static_cast<ComputeMode>(options.compute_mode)});
}

void check_options(const rung_tensor_options& options) {
  check::threads("gemm", options.threads);
  check::multiprocessors("gemm", options.multiprocessors);
  check::compute_mode("gemm", static_cast<ComputeMode>(options.compute_mode));
  check::workspace("gemm", options.workspace, options.workspace_bytes);
  require(options.reserved == 0, "reserved of the options", options.reserved, "0");
}

}  // namespace
}  // namespace rung::c_api

extern "C" rung_status rung_gemm(const rung_tensor* a, const rung_tensor* b, const rung_tensor* c,
                                 double alpha, double beta, const rung_tensor_options* options) {
  using namespace rung::c_api;
  return guarded([&] {
    const auto read = read_options(options, RUNG_TENSOR_OPTIONS_INIT, sizeof(rung_tensor_options),
                                   "sizeof(rung_tensor_options)");
    check_options(read);
    const rung::CanonicalCall call = rung::canonical(a, b, c, alpha, beta);
    if (c->device_type == RUNG_DEVICE_CPU) {
      run_on_cpu(call, read);
    } else {
      run_on_gpu(call, c->device_id, read);
    }
  });
}
