// Implements the C interface on top of the C++ interface.

#include <algorithm>
#include <cstring>
#include <string>

#include "library/c_api.hpp"
#include "library/check.hpp"
#include "rung/dot.hpp"
#include "rung/gemm.hpp"
#include "rung/version.hpp"

namespace rung::c_api {
namespace {

// An array instead of a string, so that setting it cannot fail.
thread_local char last_error[512] = "";

}  // namespace

rung_status report(Status status, const char* message) {
  const std::size_t length = std::min(std::strlen(message), sizeof last_error - 1);
  std::memcpy(last_error, message, length);
  last_error[length] = '\0';
  return static_cast<rung_status>(status);
}

void require(bool holds, const char* what, long long value, const char* allowed) {
  if (holds) return;
  throw Error(Status::invalid_argument, "rung: " + std::string(what) + " is " +
                                            std::to_string(value) + "; it must be " + allowed);
}

Order stored_order(rung_order order) {
  require(order == RUNG_ROW_MAJOR || order == RUNG_COL_MAJOR, "order", order,
          "101 (RUNG_ROW_MAJOR) or 102 (RUNG_COL_MAJOR)");
  return order == RUNG_ROW_MAJOR ? Order::row_major : Order::col_major;
}

void check_size(const void* options, std::size_t size, std::size_t known_size, std::size_t first,
                const char* allowed) {
  // A larger size is an uninitialized value, and the memory after the options may not be readable.
  constexpr std::size_t most = 4096;
  constexpr std::size_t field = sizeof(std::int32_t);
  require(size >= first && size <= most && size % field == 0, "struct_size of the options",
          static_cast<long long>(size), allowed);
  const auto* const bytes = static_cast<const unsigned char*>(options);
  for (std::size_t i = known_size; i < size; ++i) {
    if (bytes[i] == 0) continue;
    throw Error(Status::invalid_argument,
                "rung: byte " + std::to_string(i) + " of the options is " +
                    std::to_string(bytes[i]) + "; this version of the library knows " +
                    std::to_string(known_size) + " bytes, and those behind them must be 0");
  }
}

namespace {

GemmOptions convert(const rung_gemm_options* options) {
  const auto read =
      read_options(options, RUNG_GEMM_OPTIONS_INIT, offsetof(rung_gemm_options, compute_mode),
                   "sizeof(rung_gemm_options)");
  return {.threads = read.threads, .compute_mode = static_cast<ComputeMode>(read.compute_mode)};
}

DotOptions convert(const rung_dot_options* options) {
  const auto read = read_options(options, RUNG_DOT_OPTIONS_INIT, sizeof(rung_dot_options),
                                 "sizeof(rung_dot_options)");
  return {.threads = read.threads, .mode = static_cast<DotMode>(read.mode)};
}

template <class In, class Out>
rung_status gemm_c(rung_order order, rung_transpose trans_a, rung_transpose trans_b, int64_t m,
                   int64_t n, int64_t k, Out alpha, const In* a, int64_t lda, const In* b,
                   int64_t ldb, Out beta, Out* c, int64_t ldc, const rung_gemm_options* options) {
  return guarded([&] {
    const Order stored = stored_order(order);
    gemm(alpha, operand("trans_a", trans_a, a, m, k, lda, stored),
         operand("trans_b", trans_b, b, k, n, ldb, stored), beta,
         MatrixView<Out>{c, m, n, ldc, stored}, convert(options));
  });
}

template <class In, class Out>
rung_status dot_c(int64_t n, const In* x, int64_t incx, const In* y, int64_t incy, Out* result,
                  const rung_dot_options* options) {
  return guarded([&] {
    check::result("dot", result);
    *result = dot(n, x, incx, y, incy, convert(options));
  });
}

}  // namespace
}  // namespace rung::c_api

extern "C" {

const char* rung_version(void) { return rung::version.data(); }

const char* rung_status_string(int status) {
  switch (status) {
    case RUNG_OK: return "ok";
    case RUNG_INVALID_ARGUMENT: return "invalid argument";
    case RUNG_OUT_OF_MEMORY: return "out of memory";
    case RUNG_INTERNAL_ERROR: return "internal error";
    case RUNG_UNAVAILABLE: return "not available here";
    case RUNG_DEVICE_ERROR: return "device error";
  }
  return "unknown status";
}

const char* rung_last_error(void) { return rung::c_api::last_error; }

rung_status rung_gemm_f32(rung_order order, rung_transpose trans_a, rung_transpose trans_b,
                          int64_t m, int64_t n, int64_t k, float alpha, const float* a, int64_t lda,
                          const float* b, int64_t ldb, float beta, float* c, int64_t ldc,
                          const rung_gemm_options* options) {
  return rung::c_api::gemm_c(order, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc,
                             options);
}

rung_status rung_gemm_f64(rung_order order, rung_transpose trans_a, rung_transpose trans_b,
                          int64_t m, int64_t n, int64_t k, double alpha, const double* a,
                          int64_t lda, const double* b, int64_t ldb, double beta, double* c,
                          int64_t ldc, const rung_gemm_options* options) {
  return rung::c_api::gemm_c(order, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc,
                             options);
}

rung_status rung_gemm_i32(rung_order order, rung_transpose trans_a, rung_transpose trans_b,
                          int64_t m, int64_t n, int64_t k, int32_t alpha, const int32_t* a,
                          int64_t lda, const int32_t* b, int64_t ldb, int32_t beta, int32_t* c,
                          int64_t ldc, const rung_gemm_options* options) {
  return rung::c_api::gemm_c(order, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc,
                             options);
}

rung_status rung_gemm_bf16(rung_order order, rung_transpose trans_a, rung_transpose trans_b,
                           int64_t m, int64_t n, int64_t k, float alpha, const rung_bfloat16* a,
                           int64_t lda, const rung_bfloat16* b, int64_t ldb, float beta, float* c,
                           int64_t ldc, const rung_gemm_options* options) {
  using rung::bfloat16;
  return rung::c_api::gemm_c(order, trans_a, trans_b, m, n, k, alpha, rung::c_api::as<bfloat16>(a),
                             lda, rung::c_api::as<bfloat16>(b), ldb, beta, c, ldc, options);
}

rung_status rung_gemm_f16(rung_order order, rung_transpose trans_a, rung_transpose trans_b,
                          int64_t m, int64_t n, int64_t k, float alpha, const rung_float16* a,
                          int64_t lda, const rung_float16* b, int64_t ldb, float beta, float* c,
                          int64_t ldc, const rung_gemm_options* options) {
  using rung::float16;
  return rung::c_api::gemm_c(order, trans_a, trans_b, m, n, k, alpha, rung::c_api::as<float16>(a),
                             lda, rung::c_api::as<float16>(b), ldb, beta, c, ldc, options);
}

rung_status rung_gemm_i8(rung_order order, rung_transpose trans_a, rung_transpose trans_b,
                         int64_t m, int64_t n, int64_t k, int32_t alpha, const int8_t* a,
                         int64_t lda, const int8_t* b, int64_t ldb, int32_t beta, int32_t* c,
                         int64_t ldc, const rung_gemm_options* options) {
  return rung::c_api::gemm_c(order, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc,
                             options);
}

rung_status rung_dot_f32(int64_t n, const float* x, int64_t incx, const float* y, int64_t incy,
                         float* result, const rung_dot_options* options) {
  return rung::c_api::dot_c(n, x, incx, y, incy, result, options);
}

rung_status rung_dot_f64(int64_t n, const double* x, int64_t incx, const double* y, int64_t incy,
                         double* result, const rung_dot_options* options) {
  return rung::c_api::dot_c(n, x, incx, y, incy, result, options);
}

rung_status rung_dot_bf16(int64_t n, const rung_bfloat16* x, int64_t incx, const rung_bfloat16* y,
                          int64_t incy, float* result, const rung_dot_options* options) {
  return rung::c_api::dot_c(n, rung::c_api::as<rung::bfloat16>(x), incx,
                            rung::c_api::as<rung::bfloat16>(y), incy, result, options);
}

rung_status rung_dot_f16(int64_t n, const rung_float16* x, int64_t incx, const rung_float16* y,
                         int64_t incy, float* result, const rung_dot_options* options) {
  return rung::c_api::dot_c(n, rung::c_api::as<rung::float16>(x), incx,
                            rung::c_api::as<rung::float16>(y), incy, result, options);
}

}  // extern "C"
