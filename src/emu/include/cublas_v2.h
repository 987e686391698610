#pragma once
/* The part of cuBLAS that multiplies: gemm and dot. Computed on the CPU by this project's library;
 * matrices and vectors are in device memory, as for cuBLAS. A call that is missing here is missing
 * by its name. */

#include "cuda_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cublasContext* cublasHandle_t;

typedef enum {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;

typedef enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 } cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3
} cublasMath_t;
typedef enum {
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef enum { CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 } cublasGemmAlgo_t;
typedef enum { CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_R_16F = 2, CUDA_R_16BF = 14 } cudaDataType_t;
typedef cudaDataType_t cudaDataType;

RUNG_EMU_API cublasStatus_t cublasCreate_v2(cublasHandle_t* handle);
RUNG_EMU_API cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
RUNG_EMU_API cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);
RUNG_EMU_API cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle,
                                                    cublasPointerMode_t mode);
RUNG_EMU_API cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
RUNG_EMU_API const char* cublasGetStatusString(cublasStatus_t status);

/* C = alpha op(A) op(B) + beta C, all column-major; op(A) is m x k, op(B) is k x n. */
RUNG_EMU_API cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t op_a,
                                           cublasOperation_t op_b, int m, int n, int k,
                                           const float* alpha, const float* a, int lda,
                                           const float* b, int ldb, const float* beta, float* c,
                                           int ldc);
RUNG_EMU_API cublasStatus_t cublasDgemm_v2(cublasHandle_t handle, cublasOperation_t op_a,
                                           cublasOperation_t op_b, int m, int n, int k,
                                           const double* alpha, const double* a, int lda,
                                           const double* b, int ldb, const double* beta, double* c,
                                           int ldc);
/* A and B of one type, f16, bf16 or f32, with C and the computation in f32; or all in f64. */
RUNG_EMU_API cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a,
                                         cublasOperation_t op_b, int m, int n, int k,
                                         const void* alpha, const void* a, cudaDataType a_type,
                                         int lda, const void* b, cudaDataType b_type, int ldb,
                                         const void* beta, void* c, cudaDataType c_type, int ldc,
                                         cublasComputeType_t compute_type,
                                         cublasGemmAlgo_t algorithm);

RUNG_EMU_API cublasStatus_t cublasSdot_v2(cublasHandle_t handle, int n, const float* x, int incx,
                                          const float* y, int incy, float* result);
RUNG_EMU_API cublasStatus_t cublasDdot_v2(cublasHandle_t handle, int n, const double* x, int incx,
                                          const double* y, int incy, double* result);

#ifdef __cplusplus
}
#endif

/* The names that programs use. */
#define cublasCreate cublasCreate_v2
#define cublasDestroy cublasDestroy_v2
#define cublasSetStream cublasSetStream_v2
#define cublasSetPointerMode cublasSetPointerMode_v2
#define cublasSgemm cublasSgemm_v2
#define cublasDgemm cublasDgemm_v2
#define cublasSdot cublasSdot_v2
#define cublasDdot cublasDdot_v2
