#pragma once
/* The part of cuSOLVER that is here: LU, Cholesky and QR of dense matrices of float and double,
 * and what solves with them; eigenvalues and singular values, of complex matrices too. Computed on the CPU. A call that is missing here is missing by its
 * name. */

#include <stdint.h>

#include "cusolver_common.h"
#include "rung_emu/cusolver/spectral.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cusolverDnContext* cusolverDnHandle_t;

RUNG_EMU_API cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle);
RUNG_EMU_API cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle);
RUNG_EMU_API cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream);
RUNG_EMU_API cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t* stream);

RUNG_EMU_API cusolverStatus_t cusolverDnSgetrf_bufferSize(cusolverDnHandle_t handle, int m, int n,
                                                          float* a, int lda, int* size);
RUNG_EMU_API cusolverStatus_t cusolverDnSgetrf(cusolverDnHandle_t handle, int m, int n, float* a,
                                               int lda, float* workspace, int* pivots, int* info);
RUNG_EMU_API cusolverStatus_t cusolverDnSgetrs(cusolverDnHandle_t handle, cublasOperation_t op,
                                               int n, int columns, const float* a, int lda,
                                               const int* pivots, float* b, int ldb, int* info);
RUNG_EMU_API cusolverStatus_t cusolverDnSpotrf_bufferSize(cusolverDnHandle_t handle,
                                                          cublasFillMode_t part, int n, float* a,
                                                          int lda, int* size);
RUNG_EMU_API cusolverStatus_t cusolverDnSpotrf(cusolverDnHandle_t handle, cublasFillMode_t part,
                                               int n, float* a, int lda, float* workspace, int size,
                                               int* info);
RUNG_EMU_API cusolverStatus_t cusolverDnSpotrs(cusolverDnHandle_t handle, cublasFillMode_t part,
                                               int n, int columns, const float* a, int lda,
                                               float* b, int ldb, int* info);
RUNG_EMU_API cusolverStatus_t cusolverDnSgeqrf_bufferSize(cusolverDnHandle_t handle, int m, int n,
                                                          float* a, int lda, int* size);
RUNG_EMU_API cusolverStatus_t cusolverDnSgeqrf(cusolverDnHandle_t handle, int m, int n, float* a,
                                               int lda, float* tau, float* workspace, int size,
                                               int* info);
RUNG_EMU_API cusolverStatus_t cusolverDnSormqr_bufferSize(cusolverDnHandle_t handle,
                                                          cublasSideMode_t side,
                                                          cublasOperation_t op, int m, int n, int k,
                                                          const float* a, int lda, const float* tau,
                                                          const float* c, int ldc, int* size);
RUNG_EMU_API cusolverStatus_t cusolverDnSormqr(cusolverDnHandle_t handle, cublasSideMode_t side,
                                               cublasOperation_t op, int m, int n, int k,
                                               const float* a, int lda, const float* tau, float* c,
                                               int ldc, float* workspace, int size, int* info);
RUNG_EMU_API cusolverStatus_t cusolverDnDgetrf_bufferSize(cusolverDnHandle_t handle, int m, int n,
                                                          double* a, int lda, int* size);
RUNG_EMU_API cusolverStatus_t cusolverDnDgetrf(cusolverDnHandle_t handle, int m, int n, double* a,
                                               int lda, double* workspace, int* pivots, int* info);
RUNG_EMU_API cusolverStatus_t cusolverDnDgetrs(cusolverDnHandle_t handle, cublasOperation_t op,
                                               int n, int columns, const double* a, int lda,
                                               const int* pivots, double* b, int ldb, int* info);
RUNG_EMU_API cusolverStatus_t cusolverDnDpotrf_bufferSize(cusolverDnHandle_t handle,
                                                          cublasFillMode_t part, int n, double* a,
                                                          int lda, int* size);
RUNG_EMU_API cusolverStatus_t cusolverDnDpotrf(cusolverDnHandle_t handle, cublasFillMode_t part,
                                               int n, double* a, int lda, double* workspace,
                                               int size, int* info);
RUNG_EMU_API cusolverStatus_t cusolverDnDpotrs(cusolverDnHandle_t handle, cublasFillMode_t part,
                                               int n, int columns, const double* a, int lda,
                                               double* b, int ldb, int* info);
RUNG_EMU_API cusolverStatus_t cusolverDnDgeqrf_bufferSize(cusolverDnHandle_t handle, int m, int n,
                                                          double* a, int lda, int* size);
RUNG_EMU_API cusolverStatus_t cusolverDnDgeqrf(cusolverDnHandle_t handle, int m, int n, double* a,
                                               int lda, double* tau, double* workspace, int size,
                                               int* info);
RUNG_EMU_API cusolverStatus_t cusolverDnDormqr_bufferSize(
    cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t op, int m, int n, int k,
    const double* a, int lda, const double* tau, const double* c, int ldc, int* size);
RUNG_EMU_API cusolverStatus_t cusolverDnDormqr(cusolverDnHandle_t handle, cublasSideMode_t side,
                                               cublasOperation_t op, int m, int n, int k,
                                               const double* a, int lda, const double* tau,
                                               double* c, int ldc, double* workspace, int size,
                                               int* info);

/* The 64-bit interface: matrices of float and double, and complex ones for eigenvalues. */
typedef struct cusolverDnParams* cusolverDnParams_t;
typedef enum { CUSOLVERDN_GETRF = 0, CUSOLVERDN_POTRF = 1 } cusolverDnFunction_t;
RUNG_EMU_API cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* params);
RUNG_EMU_API cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params);
RUNG_EMU_API cusolverStatus_t cusolverDnSetAdvOptions(cusolverDnParams_t params,
                                                      cusolverDnFunction_t function,
                                                      cusolverAlgMode_t algorithm);
RUNG_EMU_API cusolverStatus_t cusolverDnXgetrf_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n, cudaDataType type,
    const void* a, int64_t lda, cudaDataType compute, size_t* on_device, size_t* on_host);
RUNG_EMU_API cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                               int64_t m, int64_t n, cudaDataType type, void* a,
                                               int64_t lda, int64_t* pivots, cudaDataType compute,
                                               void* device_workspace, size_t device_bytes,
                                               void* host_workspace, size_t host_bytes, int* info);
RUNG_EMU_API cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                               cublasOperation_t op, int64_t n, int64_t columns,
                                               cudaDataType type, const void* a, int64_t lda,
                                               const int64_t* pivots, cudaDataType type_of_b,
                                               void* b, int64_t ldb, int* info);
RUNG_EMU_API cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t handle,
                                                          cusolverDnParams_t params,
                                                          cublasFillMode_t part, int64_t n,
                                                          cudaDataType type, const void* a,
                                                          int64_t lda, cudaDataType compute,
                                                          size_t* on_device, size_t* on_host);
RUNG_EMU_API cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                               cublasFillMode_t part, int64_t n, cudaDataType type,
                                               void* a, int64_t lda, cudaDataType compute,
                                               void* device_workspace, size_t device_bytes,
                                               void* host_workspace, size_t host_bytes, int* info);
RUNG_EMU_API cusolverStatus_t cusolverDnXpotrs(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                               cublasFillMode_t part, int64_t n, int64_t columns,
                                               cudaDataType type, const void* a, int64_t lda,
                                               cudaDataType type_of_b, void* b, int64_t ldb,
                                               int* info);
RUNG_EMU_API cusolverStatus_t cusolverDnXgeqrf_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n, cudaDataType type,
    const void* a, int64_t lda, cudaDataType type_of_tau, const void* tau, cudaDataType compute,
    size_t* on_device, size_t* on_host);
RUNG_EMU_API cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                               int64_t m, int64_t n, cudaDataType type, void* a,
                                               int64_t lda, cudaDataType type_of_tau, void* tau,
                                               cudaDataType compute, void* device_workspace,
                                               size_t device_bytes, void* host_workspace,
                                               size_t host_bytes, int* info);
RUNG_EMU_API cusolverStatus_t cusolverDnXsyevd_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t mode,
    cublasFillMode_t part, int64_t n, cudaDataType type, const void* a, int64_t lda,
    cudaDataType type_of_values, const void* values, cudaDataType compute, size_t* on_device,
    size_t* on_host);
RUNG_EMU_API cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                               cusolverEigMode_t mode, cublasFillMode_t part,
                                               int64_t n, cudaDataType type, void* a, int64_t lda,
                                               cudaDataType type_of_values, void* values,
                                               cudaDataType compute, void* device_workspace,
                                               size_t device_bytes, void* host_workspace,
                                               size_t host_bytes, int* info);

typedef struct syevjInfo* syevjInfo_t;
typedef struct gesvdjInfo* gesvdjInfo_t;
RUNG_EMU_API cusolverStatus_t cusolverDnCreateSyevjInfo(syevjInfo_t* info);
RUNG_EMU_API cusolverStatus_t cusolverDnDestroySyevjInfo(syevjInfo_t info);
RUNG_EMU_API cusolverStatus_t cusolverDnXsyevjSetTolerance(syevjInfo_t info, double tolerance);
RUNG_EMU_API cusolverStatus_t cusolverDnXsyevjSetMaxSweeps(syevjInfo_t info, int sweeps);
RUNG_EMU_API cusolverStatus_t cusolverDnXsyevjSetSortEig(syevjInfo_t info, int is_sorted);
RUNG_EMU_API cusolverStatus_t cusolverDnCreateGesvdjInfo(gesvdjInfo_t* info);
RUNG_EMU_API cusolverStatus_t cusolverDnDestroyGesvdjInfo(gesvdjInfo_t info);
RUNG_EMU_API cusolverStatus_t cusolverDnXgesvdjSetTolerance(gesvdjInfo_t info, double tolerance);
RUNG_EMU_API cusolverStatus_t cusolverDnXgesvdjSetMaxSweeps(gesvdjInfo_t info, int sweeps);
RUNG_EMU_API cusolverStatus_t cusolverDnXgesvdjSetSortEig(gesvdjInfo_t info, int is_sorted);

#define RUNG_EMU_DECLARE(name, work, parameters, arguments) \
  RUNG_EMU_API cusolverStatus_t name parameters;
RUNG_EMU_ALL_SPECTRAL(RUNG_EMU_DECLARE)
#undef RUNG_EMU_DECLARE

#ifdef __cplusplus
}
#endif
