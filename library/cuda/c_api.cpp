// Implements the C interface for GPUs on top of the C++ interface.

#include <cstdint>

#include "core/problem.hpp"
#include "library/c_api.hpp"
#include "library/check.hpp"
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

extern "C" {

rung_status rung_cuda_gemm_f32(rung_order order, rung_transpose trans_a, rung_transpose trans_b,
                               int64_t m, int64_t n, int64_t k, float alpha, const float* a,
                               int64_t lda, const float* b, int64_t ldb, float beta, float* c,
                               int64_t ldc, void* stream, const rung_cuda_options* options) {
  return rung::c_api::cuda_gemm_c(order, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c,
                                  ldc, stream, options);
}

rung_status rung_cuda_gemm_f64(rung_order order, rung_transpose trans_a, rung_transpose trans_b,
                               int64_t m, int64_t n, int64_t k, double alpha, const double* a,
                               int64_t lda, const double* b, int64_t ldb, double beta, double* c,
                               int64_t ldc, void* stream, const rung_cuda_options* options) {
  return rung::c_api::cuda_gemm_c(order, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c,
                                  ldc, stream, options);
}

rung_status rung_cuda_gemm_i32(rung_order order, rung_transpose trans_a, rung_transpose trans_b,
                               int64_t m, int64_t n, int64_t k, int32_t alpha, const int32_t* a,
                               int64_t lda, const int32_t* b, int64_t ldb, int32_t beta, int32_t* c,
                               int64_t ldc, void* stream, const rung_cuda_options* options) {
  return rung::c_api::cuda_gemm_c(order, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c,
                                  ldc, stream, options);
}

rung_status rung_cuda_gemm_bf16(rung_order order, rung_transpose trans_a, rung_transpose trans_b,
                                int64_t m, int64_t n, int64_t k, float alpha,
                                const rung_bfloat16* a, int64_t lda, const rung_bfloat16* b,
                                int64_t ldb, float beta, float* c, int64_t ldc, void* stream,
                                const rung_cuda_options* options) {
  return rung::c_api::cuda_gemm_c(
      order, trans_a, trans_b, m, n, k, alpha, rung::c_api::as<rung::bfloat16>(a), lda,
      rung::c_api::as<rung::bfloat16>(b), ldb, beta, c, ldc, stream, options);
}

rung_status rung_cuda_gemm_f16(rung_order order, rung_transpose trans_a, rung_transpose trans_b,
                               int64_t m, int64_t n, int64_t k, float alpha, const rung_float16* a,
                               int64_t lda, const rung_float16* b, int64_t ldb, float beta,
                               float* c, int64_t ldc, void* stream,
                               const rung_cuda_options* options) {
  return rung::c_api::cuda_gemm_c(
      order, trans_a, trans_b, m, n, k, alpha, rung::c_api::as<rung::float16>(a), lda,
      rung::c_api::as<rung::float16>(b), ldb, beta, c, ldc, stream, options);
}

rung_status rung_cuda_gemm_bf16_bf16(rung_order order, rung_transpose trans_a,
                                     rung_transpose trans_b, int64_t m, int64_t n, int64_t k,
                                     float alpha, const rung_bfloat16* a, int64_t lda,
                                     const rung_bfloat16* b, int64_t ldb, float beta,
                                     rung_bfloat16* c, int64_t ldc, void* stream,
                                     const rung_cuda_options* options) {
  return rung::c_api::cuda_gemm_c(order, trans_a, trans_b, m, n, k, alpha,
                                  rung::c_api::as<rung::bfloat16>(a), lda,
                                  rung::c_api::as<rung::bfloat16>(b), ldb, beta,
                                  rung::c_api::as<rung::bfloat16>(c), ldc, stream, options);
}

rung_status rung_cuda_gemm_f16_f16(rung_order order, rung_transpose trans_a, rung_transpose trans_b,
                                   int64_t m, int64_t n, int64_t k, float alpha,
                                   const rung_float16* a, int64_t lda, const rung_float16* b,
                                   int64_t ldb, float beta, rung_float16* c, int64_t ldc,
                                   void* stream, const rung_cuda_options* options) {
  return rung::c_api::cuda_gemm_c(order, trans_a, trans_b, m, n, k, alpha,
                                  rung::c_api::as<rung::float16>(a), lda,
                                  rung::c_api::as<rung::float16>(b), ldb, beta,
                                  rung::c_api::as<rung::float16>(c), ldc, stream, options);
}

rung_status rung_cuda_gemm_tf32(rung_order order, rung_transpose trans_a, rung_transpose trans_b,
                                int64_t m, int64_t n, int64_t k, float alpha, const float* a,
                                int64_t lda, const float* b, int64_t ldb, float beta, float* c,
                                int64_t ldc, void* stream, const rung_cuda_options* options) {
  return rung::c_api::cuda_gemm_c(
      order, trans_a, trans_b, m, n, k, alpha, rung::c_api::as<rung::tfloat32>(a), lda,
      rung::c_api::as<rung::tfloat32>(b), ldb, beta, c, ldc, stream, options);
}

rung_status rung_cuda_gemm_i8(rung_order order, rung_transpose trans_a, rung_transpose trans_b,
                              int64_t m, int64_t n, int64_t k, int32_t alpha, const int8_t* a,
                              int64_t lda, const int8_t* b, int64_t ldb, int32_t beta, int32_t* c,
                              int64_t ldc, void* stream, const rung_cuda_options* options) {
  return rung::c_api::cuda_gemm_c(order, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c,
                                  ldc, stream, options);
}

rung_status rung_cuda_gemm_e4m3(rung_order order, rung_transpose trans_a, rung_transpose trans_b,
                                int64_t m, int64_t n, int64_t k, float alpha,
                                const rung_float8_e4m3* a, int64_t lda, const rung_float8_e4m3* b,
                                int64_t ldb, float beta, float* c, int64_t ldc, void* stream,
                                const rung_cuda_options* options) {
  return rung::c_api::cuda_gemm_c(
      order, trans_a, trans_b, m, n, k, alpha, rung::c_api::as<rung::float8_e4m3>(a), lda,
      rung::c_api::as<rung::float8_e4m3>(b), ldb, beta, c, ldc, stream, options);
}

rung_status rung_cuda_gemm_e5m2(rung_order order, rung_transpose trans_a, rung_transpose trans_b,
                                int64_t m, int64_t n, int64_t k, float alpha,
                                const rung_float8_e5m2* a, int64_t lda, const rung_float8_e5m2* b,
                                int64_t ldb, float beta, float* c, int64_t ldc, void* stream,
                                const rung_cuda_options* options) {
  return rung::c_api::cuda_gemm_c(
      order, trans_a, trans_b, m, n, k, alpha, rung::c_api::as<rung::float8_e5m2>(a), lda,
      rung::c_api::as<rung::float8_e5m2>(b), ldb, beta, c, ldc, stream, options);
}

rung_status rung_cuda_dot_f32(int64_t n, const float* x, int64_t incx, const float* y, int64_t incy,
                              float* result, void* stream, const rung_cuda_dot_options* options) {
  return rung::c_api::cuda_dot_c(n, x, incx, y, incy, result, stream, options);
}

rung_status rung_cuda_dot_f64(int64_t n, const double* x, int64_t incx, const double* y,
                              int64_t incy, double* result, void* stream,
                              const rung_cuda_dot_options* options) {
  return rung::c_api::cuda_dot_c(n, x, incx, y, incy, result, stream, options);
}

rung_status rung_cuda_dot_bf16(int64_t n, const rung_bfloat16* x, int64_t incx,
                               const rung_bfloat16* y, int64_t incy, float* result, void* stream,
                               const rung_cuda_dot_options* options) {
  return rung::c_api::cuda_dot_c(n, rung::c_api::as<rung::bfloat16>(x), incx,
                                 rung::c_api::as<rung::bfloat16>(y), incy, result, stream, options);
}

rung_status rung_cuda_dot_f16(int64_t n, const rung_float16* x, int64_t incx, const rung_float16* y,
                              int64_t incy, float* result, void* stream,
                              const rung_cuda_dot_options* options) {
  return rung::c_api::cuda_dot_c(n, rung::c_api::as<rung::float16>(x), incx,
                                 rung::c_api::as<rung::float16>(y), incy, result, stream, options);
}

rung_status rung_cuda_release_workspace(void* stream) {
  return rung::c_api::guarded([&] { rung::release_cuda_workspace(rung::CudaStream(stream)); });
}

}  // extern "C"
