#pragma once
/* The part of cuBLAS that is here: levels 1 and 2 and products, for float and double, products of
 * smaller types, and copies. Computed on the CPU by this project's library; matrices and vectors are
 * in device memory, as for cuBLAS. A call that is missing here is missing by its name. */

/* As in the header of the vendor: programs ask for it. */
#define CUBLAS_V2_H_
#define CUBLAS_API_H_
#define CUBLAS_H_
#define CUBLAS_VERSION 120400
#define CUBLAS_VER_MAJOR 12
#define CUBLAS_VER_MINOR 4
#define CUBLASAPI
#define CUBLASWINAPI

#include "cuComplex.h"
#include "cuda_runtime_api.h"
#include "library_types.h"
#include "rung_emu/cublas/level1.h"
#include "rung_emu/cublas/level2.h"
#include "rung_emu/cublas/level3.h"

#ifdef __CUDA__
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#else
struct __half;
#ifndef __cplusplus
typedef struct __half __half;
#endif
#endif

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
typedef cublasStatus_t cublasStatus;

typedef enum {
  CUBLAS_OP_N = 0,
  CUBLAS_OP_T = 1,
  CUBLAS_OP_C = 2,
  CUBLAS_OP_HERMITAN = 2,
  CUBLAS_OP_CONJG = 3
} cublasOperation_t;
typedef enum { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1 } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 } cublasAtomicsMode_t;
typedef enum {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3,
  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;
typedef enum {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_16F_PEDANTIC = 65,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_64F_PEDANTIC = 71,
  CUBLAS_COMPUTE_32I = 72,
  CUBLAS_COMPUTE_32I_PEDANTIC = 73,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef enum {
  CUBLAS_GEMM_DFALT = -1,
  CUBLAS_GEMM_DEFAULT = -1,
  CUBLAS_GEMM_ALGO0 = 0,
  CUBLAS_GEMM_ALGO1 = 1,
  CUBLAS_GEMM_ALGO2 = 2,
  CUBLAS_GEMM_ALGO3 = 3,
  CUBLAS_GEMM_ALGO4 = 4,
  CUBLAS_GEMM_ALGO5 = 5,
  CUBLAS_GEMM_ALGO6 = 6,
  CUBLAS_GEMM_ALGO7 = 7,
  CUBLAS_GEMM_ALGO8 = 8,
  CUBLAS_GEMM_ALGO9 = 9,
  CUBLAS_GEMM_ALGO10 = 10,
  CUBLAS_GEMM_ALGO11 = 11,
  CUBLAS_GEMM_ALGO12 = 12,
  CUBLAS_GEMM_ALGO13 = 13,
  CUBLAS_GEMM_ALGO14 = 14,
  CUBLAS_GEMM_ALGO15 = 15,
  CUBLAS_GEMM_ALGO16 = 16,
  CUBLAS_GEMM_ALGO17 = 17,
  CUBLAS_GEMM_ALGO18 = 18,
  CUBLAS_GEMM_ALGO19 = 19,
  CUBLAS_GEMM_ALGO20 = 20,
  CUBLAS_GEMM_ALGO21 = 21,
  CUBLAS_GEMM_ALGO22 = 22,
  CUBLAS_GEMM_ALGO23 = 23,
  CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
  CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
  CUBLAS_GEMM_ALGO0_TENSOR_OP = 100,
  CUBLAS_GEMM_ALGO1_TENSOR_OP = 101,
  CUBLAS_GEMM_ALGO2_TENSOR_OP = 102,
  CUBLAS_GEMM_ALGO3_TENSOR_OP = 103,
  CUBLAS_GEMM_ALGO4_TENSOR_OP = 104,
  CUBLAS_GEMM_ALGO5_TENSOR_OP = 105,
  CUBLAS_GEMM_ALGO6_TENSOR_OP = 106,
  CUBLAS_GEMM_ALGO7_TENSOR_OP = 107,
  CUBLAS_GEMM_ALGO8_TENSOR_OP = 108,
  CUBLAS_GEMM_ALGO9_TENSOR_OP = 109,
  CUBLAS_GEMM_ALGO10_TENSOR_OP = 110,
  CUBLAS_GEMM_ALGO11_TENSOR_OP = 111,
  CUBLAS_GEMM_ALGO12_TENSOR_OP = 112,
  CUBLAS_GEMM_ALGO13_TENSOR_OP = 113,
  CUBLAS_GEMM_ALGO14_TENSOR_OP = 114,
  CUBLAS_GEMM_ALGO15_TENSOR_OP = 115
} cublasGemmAlgo_t;

RUNG_EMU_API cublasStatus_t cublasCreate_v2(cublasHandle_t* handle);
RUNG_EMU_API cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
RUNG_EMU_API cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int* version);
RUNG_EMU_API cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);
RUNG_EMU_API cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream);
RUNG_EMU_API cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle,
                                                    cublasPointerMode_t mode);
RUNG_EMU_API cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle,
                                                    cublasPointerMode_t* mode);
RUNG_EMU_API cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
RUNG_EMU_API cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode);
RUNG_EMU_API cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode);
RUNG_EMU_API cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace,
                                                  size_t bytes);
RUNG_EMU_API const char* cublasGetStatusString(cublasStatus_t status);
RUNG_EMU_API const char* cublasGetStatusName(cublasStatus_t status);

/* Copies of vectors, n elements of so many bytes from every step-th, and of column-major matrices. */
RUNG_EMU_API cublasStatus_t cublasSetVector(int n, int bytes, const void* from, int from_step,
                                            void* to, int to_step);
RUNG_EMU_API cublasStatus_t cublasSetMatrix(int rows, int cols, int bytes, const void* from,
                                            int from_ld, void* to, int to_ld);
RUNG_EMU_API cublasStatus_t cublasSetVectorAsync(int n, int bytes, const void* from, int from_step,
                                                 void* to, int to_step, cudaStream_t stream);
RUNG_EMU_API cublasStatus_t cublasSetMatrixAsync(int rows, int cols, int bytes, const void* from,
                                                 int from_ld, void* to, int to_ld,
                                                 cudaStream_t stream);
RUNG_EMU_API cublasStatus_t cublasGetVector(int n, int bytes, const void* from, int from_step,
                                            void* to, int to_step);
RUNG_EMU_API cublasStatus_t cublasGetMatrix(int rows, int cols, int bytes, const void* from,
                                            int from_ld, void* to, int to_ld);
RUNG_EMU_API cublasStatus_t cublasGetVectorAsync(int n, int bytes, const void* from, int from_step,
                                                 void* to, int to_step, cudaStream_t stream);
RUNG_EMU_API cublasStatus_t cublasGetMatrixAsync(int rows, int cols, int bytes, const void* from,
                                                 int from_ld, void* to, int to_ld,
                                                 cudaStream_t stream);

/* BLAS, of float, double and complex numbers. */
#define RUNG_EMU_DECLARE(name, work, parameters, arguments) \
  RUNG_EMU_API cublasStatus_t name parameters;
RUNG_EMU_ALL_BLAS1(RUNG_EMU_DECLARE)
RUNG_EMU_ALL_BLAS2(RUNG_EMU_DECLARE)
RUNG_EMU_ALL_BLAS3(RUNG_EMU_DECLARE)
#undef RUNG_EMU_DECLARE

/* LU of many matrices. */
RUNG_EMU_API cublasStatus_t cublasSgetrfBatched(cublasHandle_t handle, int n, float* const a[],
                                                int lda, int* pivots, int* info, int batch);
RUNG_EMU_API cublasStatus_t cublasSgetriBatched(cublasHandle_t handle, int n,
                                                const float* const a[], int lda, const int* pivots,
                                                float* const c[], int ldc, int* info, int batch);
RUNG_EMU_API cublasStatus_t cublasSgetrsBatched(cublasHandle_t handle, cublasOperation_t op, int n,
                                                int columns, const float* const a[], int lda,
                                                const int* pivots, float* const b[], int ldb,
                                                int* info, int batch);
RUNG_EMU_API cublasStatus_t cublasDgetrfBatched(cublasHandle_t handle, int n, double* const a[],
                                                int lda, int* pivots, int* info, int batch);
RUNG_EMU_API cublasStatus_t cublasDgetriBatched(cublasHandle_t handle, int n,
                                                const double* const a[], int lda, const int* pivots,
                                                double* const c[], int ldc, int* info, int batch);
RUNG_EMU_API cublasStatus_t cublasDgetrsBatched(cublasHandle_t handle, cublasOperation_t op, int n,
                                                int columns, const double* const a[], int lda,
                                                const int* pivots, double* const b[], int ldb,
                                                int* info, int batch);

RUNG_EMU_API cublasStatus_t cublasSmatinvBatched(cublasHandle_t handle, int n,
                                                 const float* const a[], int lda,
                                                 float* const inverses[], int ldc, int* info,
                                                 int batch);
RUNG_EMU_API cublasStatus_t cublasDmatinvBatched(cublasHandle_t handle, int n,
                                                 const double* const a[], int lda,
                                                 double* const inverses[], int ldc, int* info,
                                                 int batch);

/* C = alpha op(A) op(B) + beta C, all column-major; op(A) is m x k, op(B) is k x n. Batches are
 * count such products, of matrices a stride apart or of those that a list in device memory names. */
RUNG_EMU_API cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t op_a,
                                           cublasOperation_t op_b, int m, int n, int k,
                                           const float* alpha, const float* a, int lda,
                                           const float* b, int ldb, const float* beta, float* c,
                                           int ldc);
RUNG_EMU_API cublasStatus_t cublasSgemmStridedBatched(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
    const float* alpha, const float* a, int lda, long long stride_a, const float* b, int ldb,
    long long stride_b, const float* beta, float* c, int ldc, long long stride_c, int count);
RUNG_EMU_API cublasStatus_t cublasSgemmBatched(cublasHandle_t handle, cublasOperation_t op_a,
                                               cublasOperation_t op_b, int m, int n, int k,
                                               const float* alpha, const float* const a[], int lda,
                                               const float* const b[], int ldb, const float* beta,
                                               float* const c[], int ldc, int count);
RUNG_EMU_API cublasStatus_t cublasDgemm_v2(cublasHandle_t handle, cublasOperation_t op_a,
                                           cublasOperation_t op_b, int m, int n, int k,
                                           const double* alpha, const double* a, int lda,
                                           const double* b, int ldb, const double* beta, double* c,
                                           int ldc);
RUNG_EMU_API cublasStatus_t cublasDgemmStridedBatched(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
    const double* alpha, const double* a, int lda, long long stride_a, const double* b, int ldb,
    long long stride_b, const double* beta, double* c, int ldc, long long stride_c, int count);
RUNG_EMU_API cublasStatus_t cublasDgemmBatched(cublasHandle_t handle, cublasOperation_t op_a,
                                               cublasOperation_t op_b, int m, int n, int k,
                                               const double* alpha, const double* const a[],
                                               int lda, const double* const b[], int ldb,
                                               const double* beta, double* const c[], int ldc,
                                               int count);
RUNG_EMU_API cublasStatus_t cublasHgemm_v2(cublasHandle_t handle, cublasOperation_t op_a,
                                           cublasOperation_t op_b, int m, int n, int k,
                                           const __half* alpha, const __half* a, int lda,
                                           const __half* b, int ldb, const __half* beta, __half* c,
                                           int ldc);
RUNG_EMU_API cublasStatus_t cublasHgemmStridedBatched(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
    const __half* alpha, const __half* a, int lda, long long stride_a, const __half* b, int ldb,
    long long stride_b, const __half* beta, __half* c, int ldc, long long stride_c, int count);
RUNG_EMU_API cublasStatus_t cublasHgemmBatched(cublasHandle_t handle, cublasOperation_t op_a,
                                               cublasOperation_t op_b, int m, int n, int k,
                                               const __half* alpha, const __half* const a[],
                                               int lda, const __half* const b[], int ldb,
                                               const __half* beta, __half* const c[], int ldc,
                                               int count);
RUNG_EMU_API cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t op_a,
                                        cublasOperation_t op_b, int m, int n, int k,
                                        const __half* alpha, const __half* a, int lda,
                                        const __half* b, int ldb, const __half* beta, __half* c,
                                        int ldc);
/* A and B of one type: f16, bf16, f32, f64 or int8. Computed in f32; for a C of f64 or int32 in
 * that. alpha and beta are of the type of the computation. */
RUNG_EMU_API cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a,
                                         cublasOperation_t op_b, int m, int n, int k,
                                         const void* alpha, const void* a, cudaDataType a_type,
                                         int lda, const void* b, cudaDataType b_type, int ldb,
                                         const void* beta, void* c, cudaDataType c_type, int ldc,
                                         cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
RUNG_EMU_API cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
    const void* alpha, const void* a, cudaDataType a_type, int lda, long long stride_a,
    const void* b, cudaDataType b_type, int ldb, long long stride_b, const void* beta, void* c,
    cudaDataType c_type, int ldc, long long stride_c, int count, cublasComputeType_t compute,
    cublasGemmAlgo_t algorithm);
RUNG_EMU_API cublasStatus_t cublasGemmBatchedEx(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
    const void* alpha, const void* const a[], cudaDataType a_type, int lda, const void* const b[],
    cudaDataType b_type, int ldb, const void* beta, void* const c[], cudaDataType c_type, int ldc,
    int count, cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
RUNG_EMU_API cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t op_a,
                                          cublasOperation_t op_b, int m, int n, int k,
                                          const float* alpha, const void* a, cudaDataType a_type,
                                          int lda, const void* b, cudaDataType b_type, int ldb,
                                          const float* beta, void* c, cudaDataType c_type, int ldc);
RUNG_EMU_API cublasStatus_t cublasDotEx(cublasHandle_t handle, int n, const void* x,
                                        cudaDataType x_type, int incx, const void* y,
                                        cudaDataType y_type, int incy, void* result,
                                        cudaDataType result_type, cudaDataType execution_type);

#ifdef __cplusplus
}
#ifdef __CUDA__
/* The form of older programs, with a data type for the computation. */
static inline cublasComputeType_t rung_emu_compute_type(cudaDataType type) {
  return type == CUDA_R_64F   ? CUBLAS_COMPUTE_64F
         : type == CUDA_R_16F ? CUBLAS_COMPUTE_16F
         : type == CUDA_R_32I ? CUBLAS_COMPUTE_32I
                              : CUBLAS_COMPUTE_32F;
}
static inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a,
                                          cublasOperation_t op_b, int m, int n, int k,
                                          const void* alpha, const void* a, cudaDataType a_type,
                                          int lda, const void* b, cudaDataType b_type, int ldb,
                                          const void* beta, void* c, cudaDataType c_type, int ldc,
                                          cudaDataType compute, cublasGemmAlgo_t algorithm) {
  return cublasGemmEx(handle, op_a, op_b, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c,
                      c_type, ldc, rung_emu_compute_type(compute), algorithm);
}
#endif
#endif

/* The names that programs use. */
#include "rung_emu/cublas/names.h"
