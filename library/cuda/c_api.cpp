// Implements the C interface for GPUs on top of the C++ interface.

#include <cstdint>

#include "core/problem.hpp"
#include "library/c_api.hpp"
#include "library/check.hpp"
#include "library/public_types.hpp"
#include "rung/cuda.hpp"

namespace rung::c_api {
namespace {

CudaOptions convert(const rung_cuda_options* options) {
  const auto read =
      read_options(options, RUNG_CUDA_OPTIONS_INIT, offsetof(rung_cuda_options, multiprocessors),
                   "sizeof(rung_cuda_options)");
  return {.workspace = read.workspace,
          .workspace_bytes = read.workspace_bytes,
          .multiprocessors = read.multiprocessors,
          .compute_mode = static_cast<ComputeMode>(read.compute_mode)};
}

template <class In, class Out>
rung_status cuda_gemm_c(rung_order order, rung_transpose trans_a, rung_transpose trans_b, int64_t m,
                        int64_t n, int64_t k, Scalar<Out> alpha, const In* a, int64_t lda,
                        const In* b, int64_t ldb, Scalar<Out> beta, Out* c, int64_t ldc,
                        void* stream, const rung_cuda_options* options) {
  return guarded([&] {
    const Order stored = stored_order(order);
    gemm(alpha, operand("trans_a", trans_a, a, m, k, lda, stored),
         operand("trans_b", trans_b, b, k, n, ldb, stored), beta,
         MatrixView<Out>{c, m, n, ldc, stored}, CudaStream(stream), convert(options));
  });
}

template <class In, class Out>
rung_status cuda_dot_c(int64_t n, const In* x, int64_t incx, const In* y, int64_t incy, Out* result,
                       void* stream, const rung_cuda_dot_options* options) {
  return guarded([&] {
    const auto read = read_options(options, RUNG_CUDA_DOT_OPTIONS_INIT,
                                   sizeof(rung_cuda_dot_options), "sizeof(rung_cuda_dot_options)");
    check::result("dot", result);
    require(read.result_on_host == 0 || read.result_on_host == 1, "result_on_host",
            read.result_on_host, "0 or 1");
    const CudaDotOptions converted = {.mode = static_cast<DotMode>(read.mode),
                                      .workspace = read.workspace,
                                      .workspace_bytes = read.workspace_bytes};
    if (read.result_on_host == 1) {
      *result = dot(n, x, incx, y, incy, CudaStream(stream), converted);
    } else {
      dot(n, x, incx, y, incy, result, CudaStream(stream), converted);
    }
  });
}

}  // namespace
}  // namespace rung::c_api

using rung::bfloat16, rung::float16, rung::tfloat32, rung::float8_e4m3, rung::float8_e5m2;
using rung::c_api::as;

extern "C" {

#define RUNG_DEFINE_GEMM(suffix, In, Out, InC, OutC)                                            \
  rung_status rung_cuda_gemm_##suffix(                                                          \
      rung_order order, rung_transpose trans_a, rung_transpose trans_b, int64_t m, int64_t n,   \
      int64_t k, rung::Scalar<Out> alpha, const InC* a, int64_t lda, const InC* b, int64_t ldb, \
      rung::Scalar<Out> beta, OutC* c, int64_t ldc, void* stream,                               \
      const rung_cuda_options* options) {                                                       \
    return rung::c_api::cuda_gemm_c(order, trans_a, trans_b, m, n, k, alpha, as<In>(a), lda,    \
                                    as<In>(b), ldb, beta, as<Out>(c), ldc, stream, options);    \
  }
RUNG_CUDA_GEMM_TYPES(RUNG_DEFINE_GEMM)
#undef RUNG_DEFINE_GEMM

#define RUNG_DEFINE_DOT(suffix, In, Out, InC, OutC)                                               \
  rung_status rung_cuda_dot_##suffix(int64_t n, const InC* x, int64_t incx, const InC* y,         \
                                     int64_t incy, OutC* result, void* stream,                    \
                                     const rung_cuda_dot_options* options) {                      \
    return rung::c_api::cuda_dot_c(n, as<In>(x), incx, as<In>(y), incy, result, stream, options); \
  }
RUNG_PUBLIC_DOT_TYPES(RUNG_DEFINE_DOT)
#undef RUNG_DEFINE_DOT

rung_status rung_cuda_release_workspace(void* stream) {
  return rung::c_api::guarded([&] { rung::release_cuda_workspace(rung::CudaStream(stream)); });
}

}  // extern "C"
