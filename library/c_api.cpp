// Implements the C interface on top of the C++ interface.

#include <algorithm>
#include <cstring>
#include <string>

#include "library/c_api.hpp"
#include "library/check.hpp"
#include "library/public_types.hpp"
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

using rung::bfloat16, rung::float16, rung::c_api::as;

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

#define RUNG_DEFINE_GEMM(suffix, In, Out, InC, OutC)                                               \
  rung_status rung_gemm_##suffix(rung_order order, rung_transpose trans_a, rung_transpose trans_b, \
                                 int64_t m, int64_t n, int64_t k, Out alpha, const InC* a,         \
                                 int64_t lda, const InC* b, int64_t ldb, Out beta, OutC* c,        \
                                 int64_t ldc, const rung_gemm_options* options) {                  \
    return rung::c_api::gemm_c(order, trans_a, trans_b, m, n, k, alpha, as<In>(a), lda, as<In>(b), \
                               ldb, beta, c, ldc, options);                                        \
  }
RUNG_CPU_GEMM_TYPES(RUNG_DEFINE_GEMM)
#undef RUNG_DEFINE_GEMM

#define RUNG_DEFINE_DOT(suffix, In, Out, InC, OutC)                                                \
  rung_status rung_dot_##suffix(int64_t n, const InC* x, int64_t incx, const InC* y, int64_t incy, \
                                OutC* result, const rung_dot_options* options) {                   \
    return rung::c_api::dot_c(n, as<In>(x), incx, as<In>(y), incy, result, options);               \
  }
RUNG_PUBLIC_DOT_TYPES(RUNG_DEFINE_DOT)
#undef RUNG_DEFINE_DOT

}  // extern "C"
