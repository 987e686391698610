// The gemm functions of cuBLAS: each describes its product, and passes on what Rung does not answer.

#include "library/cublas/handle.hpp"
#include "library/cublas/products.hpp"
#include "library/cublas/real.hpp"

namespace rung::cublas {
namespace {

/// The answer of Rung, or that of the real function with the arguments, or an error of the kind that
/// cuBLAS gives.
template <class... Arguments>
int answer_or_pass_on(const char* name, const Product& product, Handle handle,
                      Arguments... arguments) {
  const int answered = multiply(handle, product);
  if (answered != unanswered) return answered;
  return handle == nullptr ? static_cast<int>(not_initialized)
                           : pass_on(name, handle, arguments...);
}

}  // namespace
}  // namespace rung::cublas

using namespace rung::cublas;

// Each with 32-bit integers, and with those of 64 bits that CUDA 12 added.
#define RUNG_CUBLAS_GEMM(NAME, T, TYPE, COMPUTE, INT)                                           \
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
RUNG_CUBLAS_GEMM(cublasSgemm_v2, float, r_32f, compute_32f, int)
RUNG_CUBLAS_GEMM(cublasDgemm_v2, double, r_64f, compute_64f, int)
RUNG_CUBLAS_GEMM(cublasSgemm_v2_64, float, r_32f, compute_32f, std::int64_t)
RUNG_CUBLAS_GEMM(cublasDgemm_v2_64, double, r_64f, compute_64f, std::int64_t)

#define RUNG_CUBLAS_BATCHED(NAME, T, TYPE, COMPUTE, INT)                                      \
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
RUNG_CUBLAS_BATCHED(cublasSgemmStridedBatched, float, r_32f, compute_32f, int)
RUNG_CUBLAS_BATCHED(cublasDgemmStridedBatched, double, r_64f, compute_64f, int)
RUNG_CUBLAS_BATCHED(cublasSgemmStridedBatched_64, float, r_32f, compute_32f, std::int64_t)
RUNG_CUBLAS_BATCHED(cublasDgemmStridedBatched_64, double, r_64f, compute_64f, std::int64_t)

#define RUNG_CUBLAS_EX(NAME, INT)                                                                \
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
RUNG_CUBLAS_EX(cublasGemmEx, int)
RUNG_CUBLAS_EX(cublasGemmEx_64, std::int64_t)

#define RUNG_CUBLAS_BATCHED_EX(NAME, INT)                                                        \
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
RUNG_CUBLAS_BATCHED_EX(cublasGemmStridedBatchedEx, int)
RUNG_CUBLAS_BATCHED_EX(cublasGemmStridedBatchedEx_64, std::int64_t)
