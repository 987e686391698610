// The gemm functions of cuBLAS: each describes its product and forwards the call if Rung cannot
// compute it.

#include "library/cublas/handle.hpp"
#include "library/cublas/products.hpp"
#include "library/cublas/real.hpp"

namespace rung::cublas {
namespace {

/// Returns Rung's result; otherwise calls the real function with the arguments; otherwise returns
/// an error that cuBLAS would return.
template <class... Arguments>
int answer_or_pass_on(const char* name, const Product& product, Handle handle,
                      Arguments... arguments) {
  if (handle == nullptr) return not_initialized;
  const bool is_valid = is_valid_gemm(product) && product.batch >= 0 && product.alpha != nullptr &&
                        product.beta != nullptr;
  const int answered = is_valid ? multiply(handle, product) : answer(RUNG_INVALID_ARGUMENT);
  return answered != unanswered ? answered : pass_on(name, handle, arguments...);
}

}  // namespace
}  // namespace rung::cublas

using namespace rung::cublas;

// Each function exists with 32-bit integers and with the 64-bit integers added in CUDA 12.
#define RUNG_DEFINE_GEMM(NAME, T, TYPE, COMPUTE, INT)                                           \
  CUBLAS_API int NAME(Handle handle, int op_a, int op_b, INT m, INT n, INT k, const T* alpha,   \
                      const T* a, INT lda, const T* b, INT ldb, const T* beta, T* c, INT ldc) { \
    return answer_or_pass_on(#NAME,                                                             \
                             {op_a,                                                             \
                              op_b,                                                             \
                              m,                                                                \
                              n,                                                                \
                              k,                                                                \
                              alpha,                                                            \
                              {a, TYPE, lda},                                                   \
                              {b, TYPE, ldb},                                                   \
                              beta,                                                             \
                              {c, TYPE, ldc},                                                   \
                              COMPUTE},                                                         \
                             handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); \
  }

#define RUNG_DEFINE_BATCHED(NAME, T, TYPE, COMPUTE, INT)                                      \
  CUBLAS_API int NAME(Handle handle, int op_a, int op_b, INT m, INT n, INT k, const T* alpha, \
                      const T* a, INT lda, long long stride_a, const T* b, INT ldb,           \
                      long long stride_b, const T* beta, T* c, INT ldc, long long stride_c,   \
                      INT batch) {                                                            \
    return answer_or_pass_on(#NAME,                                                           \
                             {op_a,                                                           \
                              op_b,                                                           \
                              m,                                                              \
                              n,                                                              \
                              k,                                                              \
                              alpha,                                                          \
                              {a, TYPE, lda, stride_a},                                       \
                              {b, TYPE, ldb, stride_b},                                       \
                              beta,                                                           \
                              {c, TYPE, ldc, stride_c},                                       \
                              COMPUTE,                                                        \
                              batch},                                                         \
                             handle, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb,    \
                             stride_b, beta, c, ldc, stride_c, batch);                        \
  }

#define RUNG_DEFINE_EX(NAME, INT)                                                                \
  CUBLAS_API int NAME(Handle handle, int op_a, int op_b, INT m, INT n, INT k, const void* alpha, \
                      const void* a, int a_type, INT lda, const void* b, int b_type, INT ldb,    \
                      const void* beta, void* c, int c_type, INT ldc, int compute,               \
                      int algorithm) {                                                           \
    return answer_or_pass_on(#NAME,                                                              \
                             {op_a,                                                              \
                              op_b,                                                              \
                              m,                                                                 \
                              n,                                                                 \
                              k,                                                                 \
                              alpha,                                                             \
                              {a, a_type, lda},                                                  \
                              {b, b_type, ldb},                                                  \
                              beta,                                                              \
                              {c, c_type, ldc},                                                  \
                              compute},                                                          \
                             handle, op_a, op_b, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, \
                             beta, c, c_type, ldc, compute, algorithm);                          \
  }

#define RUNG_DEFINE_BATCHED_EX(NAME, INT)                                                        \
  CUBLAS_API int NAME(Handle handle, int op_a, int op_b, INT m, INT n, INT k, const void* alpha, \
                      const void* a, int a_type, INT lda, long long stride_a, const void* b,     \
                      int b_type, INT ldb, long long stride_b, const void* beta, void* c,        \
                      int c_type, INT ldc, long long stride_c, INT batch, int compute,           \
                      int algorithm) {                                                           \
    return answer_or_pass_on(#NAME,                                                              \
                             {op_a,                                                              \
                              op_b,                                                              \
                              m,                                                                 \
                              n,                                                                 \
                              k,                                                                 \
                              alpha,                                                             \
                              {a, a_type, lda, stride_a},                                        \
                              {b, b_type, ldb, stride_b},                                        \
                              beta,                                                              \
                              {c, c_type, ldc, stride_c},                                        \
                              compute,                                                           \
                              batch},                                                            \
                             handle, op_a, op_b, m, n, k, alpha, a, a_type, lda, stride_a, b,    \
                             b_type, ldb, stride_b, beta, c, c_type, ldc, stride_c, batch,       \
                             compute, algorithm);                                                \
  }

#define RUNG_CUBLAS_GEMM(NAME, T, TYPE, COMPUTE) \
  RUNG_DEFINE_GEMM(NAME, T, TYPE, COMPUTE, int)  \
  RUNG_DEFINE_GEMM(NAME##_64, T, TYPE, COMPUTE, std::int64_t)
#define RUNG_CUBLAS_BATCHED(NAME, T, TYPE, COMPUTE) \
  RUNG_DEFINE_BATCHED(NAME, T, TYPE, COMPUTE, int)  \
  RUNG_DEFINE_BATCHED(NAME##_64, T, TYPE, COMPUTE, std::int64_t)
#define RUNG_CUBLAS_EX(NAME) RUNG_DEFINE_EX(NAME, int) RUNG_DEFINE_EX(NAME##_64, std::int64_t)
#define RUNG_CUBLAS_BATCHED_EX(NAME) \
  RUNG_DEFINE_BATCHED_EX(NAME, int)  \
  RUNG_DEFINE_BATCHED_EX(NAME##_64, std::int64_t)
#include "core/cublas/functions.def"
