// The gemm family, computed on the CPU by rung::gemm().

#include <cstdint>
#include <type_traits>

#include "core/cublas/values.hpp"
#include "cublasLt.h"
#include "emu/libraries/cublas/matrix_product.hpp"
#include "emu/libraries/cublas/recorded.hpp"
#include "rung/gemm.hpp"

// The headers have the values and functions that librung_cublas has.
#define RUNG_SAME(name, original, value) static_assert(original == value);
RUNG_CUBLAS_STATUSES(RUNG_SAME)
RUNG_CUBLAS_OPERATIONS(RUNG_SAME)
RUNG_CUBLAS_POINTER_MODES(RUNG_SAME)
RUNG_CUBLAS_MATH_MODES(RUNG_SAME)
RUNG_CUBLAS_DATA_TYPES(RUNG_SAME)
RUNG_CUBLAS_COMPUTE_TYPES(RUNG_SAME)
RUNG_CUBLASLT_DESC_ATTRIBUTES(RUNG_SAME)
RUNG_CUBLASLT_LAYOUT_ATTRIBUTES(RUNG_SAME)
RUNG_CUBLASLT_ORDERS(RUNG_SAME)
RUNG_CUBLASLT_EPILOGUES(RUNG_SAME)
#define RUNG_CUBLAS_EX(NAME) static_assert(std::is_function_v<decltype(NAME)>);
#define RUNG_CUBLAS_BATCHED_EX(NAME) RUNG_CUBLAS_EX(NAME)
#define RUNG_CUBLAS_DOT(NAME, T, TYPE) RUNG_CUBLAS_EX(NAME)
#define RUNG_CUBLAS_DOT_EX(NAME) RUNG_CUBLAS_EX(NAME)
#include "core/cublas/functions.def"

using namespace rung::emu::cublas;

namespace {

template <class T>
const T* advanced(const T* from, long long elements, std::size_t bytes) {
  return reinterpret_cast<const T*>(reinterpret_cast<std::uintptr_t>(from) +
                                    static_cast<std::uintptr_t>(elements) * bytes);
}

std::size_t bytes_of(cudaDataType type) {
  switch (type) {
    case CUDA_R_64F: return 8;
    case CUDA_R_32F:
    case CUDA_R_32I: return 4;
    case CUDA_R_16F:
    case CUDA_R_16BF: return 2;
    default: return 1;
  }
}

struct Batch {
  int count;
  long long a, b, c;  // from matrix to matrix, in elements
};

void multiply_each(const cublasContext& context, const Product& first, double alpha, double beta,
                   const Batch& batch) {
  for (int i = 0; i < batch.count; ++i) {
    Product one = first;
    const auto move = [i](Operand& operand, long long stride) {
      operand.data =
          advanced(static_cast<const char*>(operand.data), i * stride, bytes_of(operand.type));
    };
    move(one.a, batch.a);
    move(one.b, batch.b);
    move(one.c, batch.c);
    one.d = const_cast<void*>(one.c.data);
    multiply(context, one, alpha, beta);
  }
}

void multiply_batch(const cublasContext& context, const Product& first, double alpha, double beta,
                    const Batch& batch) {
  require(rung::cublas::is_valid_gemm(first) && batch.count >= 0);
  run_or_record(context, [=](const cublasContext& running) {
    multiply_each(running, first, alpha, beta, batch);
  });
}

template <class T>
constexpr cudaDataType type_of = CUDA_R_32F;
template <>
constexpr cudaDataType type_of<double> = CUDA_R_64F;
template <>
constexpr cudaDataType type_of<rung::float16> = CUDA_R_16F;

template <class T>
double number(T value) {
  if constexpr (std::is_same_v<T, rung::float16>) {
    return double{static_cast<float>(value)};
  } else {
    return double{value};
  }
}

template <class T>
cublasStatus_t gemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                    int n, int k, const T* alpha, const T* a, int lda, const T* b, int ldb,
                    const T* beta, T* c, int ldc, const Batch& batch = {1, 0, 0, 0}) {
  return guarded(handle, [&] {
    constexpr cudaDataType type = type_of<T>;
    const Product product = {op_a,           op_b,           m, n, k, {a, type, lda},
                             {b, type, ldb}, {c, type, ldc}, c};
    multiply_batch(*handle, product, number(read_scalar(*handle, alpha)),
                   number(read_scalar(*handle, beta)), batch);
  });
}

// The matrices' addresses are in device memory.
template <class T>
cublasStatus_t gemm_pointers(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                             int m, int n, int k, const T* alpha, const T* const a[], int lda,
                             const T* const b[], int ldb, const T* beta, T* const c[], int ldc,
                             int count) {
  return guarded(handle, [&] {
    const auto matrices = static_cast<std::size_t>(count < 0 ? 0 : count);
    const bool is_read = k != 0 && number(read_scalar(*handle, alpha)) != 0;
    const auto of_a = download_if(is_read, a, matrices, handle->stream);
    const auto of_b = download_if(is_read, b, matrices, handle->stream);
    const auto of_c = download(c, matrices, handle->stream);
    for (std::size_t i = 0; i < matrices; ++i) {
      const cublasStatus_t status =
          gemm(handle, op_a, op_b, m, n, k, alpha, of_a[i], lda, of_b[i], ldb, beta, of_c[i], ldc);
      if (status != CUBLAS_STATUS_SUCCESS) throw Failure{status};
    }
  });
}

}  // namespace

extern "C" {

#define RUNG_EMU_GEMM(NAME, T, STORED)                                                       \
  cublasStatus_t NAME(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, \
                      int m, int n, int k, const T* alpha, const T* a, int lda, const T* b,  \
                      int ldb, const T* beta, T* c, int ldc) {                               \
    return gemm(handle, op_a, op_b, m, n, k, (const STORED*)alpha, (const STORED*)a, lda,    \
                (const STORED*)b, ldb, (const STORED*)beta, (STORED*)c, ldc);                \
  }
#define RUNG_EMU_STRIDED(NAME, T, STORED)                                                         \
  cublasStatus_t NAME(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,      \
                      int m, int n, int k, const T* alpha, const T* a, int lda,                   \
                      long long stride_a, const T* b, int ldb, long long stride_b, const T* beta, \
                      T* c, int ldc, long long stride_c, int count) {                             \
    return gemm(handle, op_a, op_b, m, n, k, (const STORED*)alpha, (const STORED*)a, lda,         \
                (const STORED*)b, ldb, (const STORED*)beta, (STORED*)c, ldc,                      \
                {count, stride_a, stride_b, stride_c});                                           \
  }
#define RUNG_CUBLAS_GEMM(NAME, T, TYPE, COMPUTE) RUNG_EMU_GEMM(NAME, T, T)
#define RUNG_CUBLAS_BATCHED(NAME, T, TYPE, COMPUTE) RUNG_EMU_STRIDED(NAME, T, T)
#include "core/cublas/functions.def"
RUNG_EMU_GEMM(cublasHgemm_v2, __half, rung::float16)
RUNG_EMU_STRIDED(cublasHgemmStridedBatched, __half, rung::float16)

#define RUNG_EMU_POINTERS(NAME, T, STORED)                                                   \
  cublasStatus_t NAME(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, \
                      int m, int n, int k, const T* alpha, const T* const a[], int lda,      \
                      const T* const b[], int ldb, const T* beta, T* const c[], int ldc,     \
                      int count) {                                                           \
    return gemm_pointers(handle, op_a, op_b, m, n, k, (const STORED*)alpha,                  \
                         (const STORED* const*)a, lda, (const STORED* const*)b, ldb,         \
                         (const STORED*)beta, (STORED* const*)c, ldc, count);                \
  }
RUNG_EMU_POINTERS(cublasSgemmBatched, float, float)
RUNG_EMU_POINTERS(cublasDgemmBatched, double, double)
RUNG_EMU_POINTERS(cublasHgemmBatched, __half, rung::float16)
// Called with a macro's name that ends in _v2 for the others.
cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                           int m, int n, int k, const __half* alpha, const __half* a, int lda,
                           const __half* b, int ldb, const __half* beta, __half* c, int ldc) {
  return cublasHgemm_v2(handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
    const void* alpha, const void* a, cudaDataType a_type, int lda, long long stride_a,
    const void* b, cudaDataType b_type, int ldb, long long stride_b, const void* beta, void* c,
    cudaDataType c_type, int ldc, long long stride_c, int count, cublasComputeType_t compute,
    cublasGemmAlgo_t /*algorithm*/) {
  if (a_type == CUDA_C_32F && b_type == a_type && c_type == a_type) {
    return cublasCgemmStridedBatched(
        handle, op_a, op_b, m, n, k, static_cast<const cuComplex*>(alpha),
        static_cast<const cuComplex*>(a), lda, stride_a, static_cast<const cuComplex*>(b), ldb,
        stride_b, static_cast<const cuComplex*>(beta), static_cast<cuComplex*>(c), ldc, stride_c,
        count);
  }
  if (a_type == CUDA_C_64F && b_type == a_type && c_type == a_type) {
    return cublasZgemmStridedBatched(handle, op_a, op_b, m, n, k,
                                     static_cast<const cuDoubleComplex*>(alpha),
                                     static_cast<const cuDoubleComplex*>(a), lda, stride_a,
                                     static_cast<const cuDoubleComplex*>(b), ldb, stride_b,
                                     static_cast<const cuDoubleComplex*>(beta),
                                     static_cast<cuDoubleComplex*>(c), ldc, stride_c, count);
  }
  return guarded(handle, [&] {
    const Product product = {
        op_a, op_b, m, n, k, {a, a_type, lda}, {b, b_type, ldb}, {c, c_type, ldc}, c};
    multiply_batch(*handle, product, read_scale(*handle, alpha, compute, c_type),
                   read_scale(*handle, beta, compute, c_type),
                   {count, stride_a, stride_b, stride_c});
  });
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                            int m, int n, int k, const void* alpha, const void* a,
                            cudaDataType a_type, int lda, const void* b, cudaDataType b_type,
                            int ldb, const void* beta, void* c, cudaDataType c_type, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return cublasGemmStridedBatchedEx(handle, op_a, op_b, m, n, k, alpha, a, a_type, lda, 0, b,
                                    b_type, ldb, 0, beta, c, c_type, ldc, 0, 1, compute, algorithm);
}

cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t op_a,
                                   cublasOperation_t op_b, int m, int n, int k, const void* alpha,
                                   const void* const a[], cudaDataType a_type, int lda,
                                   const void* const b[], cudaDataType b_type, int ldb,
                                   const void* beta, void* const c[], cudaDataType c_type, int ldc,
                                   int count, cublasComputeType_t compute,
                                   cublasGemmAlgo_t algorithm) {
  return guarded(handle, [&] {
    const auto number = static_cast<std::size_t>(count < 0 ? 0 : count);
    const bool is_read = k != 0 && read_scale(*handle, alpha, compute, c_type) != 0;
    const auto of_a = download_if(is_read, a, number, handle->stream);
    const auto of_b = download_if(is_read, b, number, handle->stream);
    const auto of_c = download(c, number, handle->stream);
    for (std::size_t i = 0; i < number; ++i) {
      const cublasStatus_t status =
          cublasGemmEx(handle, op_a, op_b, m, n, k, alpha, of_a[i], a_type, lda, of_b[i], b_type,
                       ldb, beta, of_c[i], c_type, ldc, compute, algorithm);
      if (status != CUBLAS_STATUS_SUCCESS) throw Failure{status};
    }
  });
}

cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                             int m, int n, int k, const float* alpha, const void* a,
                             cudaDataType a_type, int lda, const void* b, cudaDataType b_type,
                             int ldb, const float* beta, void* c, cudaDataType c_type, int ldc) {
  return cublasGemmEx(handle, op_a, op_b, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c,
                      c_type, ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

cublasStatus_t cublasDotEx(cublasHandle_t handle, int n, const void* x, cudaDataType x_type,
                           int incx, const void* y, cudaDataType y_type, int incy, void* result,
                           cudaDataType result_type, cudaDataType /*execution_type*/) {
  return guarded(handle, [&] {
    if (incx <= 0 || incy <= 0) throw Failure{CUBLAS_STATUS_NOT_SUPPORTED};
    const auto load = [&](const void* from, cudaDataType type, int step) {
      const std::size_t count =
          n <= 0 ? 0 : static_cast<std::size_t>(n - 1) * static_cast<std::size_t>(step) + 1;
      return load_as<double>(from, type, count, handle->stream);
    };
    const std::vector<double> a = load(x, x_type, incx), b = load(y, y_type, incy);
    double sum = 0;
    for (int i = 0; i < n; ++i) {
      sum += a[static_cast<std::size_t>(i * incx)] * b[static_cast<std::size_t>(i * incy)];
    }
    if (result_type == CUDA_R_64F) {
      write_scalar(*handle, static_cast<double*>(result), sum);
    } else if (result_type == CUDA_R_32F) {
      write_scalar(*handle, static_cast<float*>(result), static_cast<float>(sum));
    } else if (result_type == CUDA_R_16F) {
      write_scalar(*handle, static_cast<rung::float16*>(result),
                   rung::float16(static_cast<float>(sum)));
    } else {
      throw Failure{CUBLAS_STATUS_NOT_SUPPORTED};
    }
  });
}

}  // extern "C"
