#pragma once
/* The part of cuBLASXt that is here: products of matrices in host or device memory. One device
 * computes them whole. */

#include "cublas_v2.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cublasXtContext* cublasXtHandle_t;

RUNG_EMU_API cublasStatus_t cublasXtCreate(cublasXtHandle_t* handle);
RUNG_EMU_API cublasStatus_t cublasXtDestroy(cublasXtHandle_t handle);
RUNG_EMU_API cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t handle, int count, int devices[]);
RUNG_EMU_API cublasStatus_t cublasXtSetBlockDim(cublasXtHandle_t handle, int size);
RUNG_EMU_API cublasStatus_t cublasXtGetBlockDim(cublasXtHandle_t handle, int* size);
RUNG_EMU_API cublasStatus_t cublasXtSgemm(cublasXtHandle_t handle, cublasOperation_t op_a,
                                          cublasOperation_t op_b, size_t m, size_t n, size_t k,
                                          const float* alpha, const float* a, size_t lda,
                                          const float* b, size_t ldb, const float* beta, float* c,
                                          size_t ldc);
RUNG_EMU_API cublasStatus_t cublasXtDgemm(cublasXtHandle_t handle, cublasOperation_t op_a,
                                          cublasOperation_t op_b, size_t m, size_t n, size_t k,
                                          const double* alpha, const double* a, size_t lda,
                                          const double* b, size_t ldb, const double* beta,
                                          double* c, size_t ldc);

#ifdef __cplusplus
}
#endif
