// cuSOLVER on dense matrices, computed on the CPU.

#include "cusolverDn.h"

#include "emu/libraries/cusolver/dense.hpp"

using namespace rung::emu::cusolver;

extern "C" {

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  if (handle == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  *handle = new (std::nothrow) cusolverDnContext;
  return *handle == nullptr ? CUSOLVER_STATUS_ALLOC_FAILED : CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  delete handle;
  return handle == nullptr ? CUSOLVER_STATUS_NOT_INITIALIZED : CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  return guarded(handle, [&] { handle->stream = stream; });
}

cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t* stream) {
  return guarded(handle, [&] {
    require(stream != nullptr);
    *stream = handle->stream;
  });
}

cusolverStatus_t cusolverDnSgetrf_bufferSize(cusolverDnHandle_t handle, int m, int n, float* /*a*/,
                                             int lda, int* size) {
  return workspace(handle, m >= 0 && n >= 0 && lda >= std::max(1, m), size);
}
cusolverStatus_t cusolverDnSgetrf(cusolverDnHandle_t handle, int m, int n, float* a, int lda,
                                  float* /*workspace*/, int* pivots, int* info) {
  return guarded(handle, [&] { lu(*handle, m, n, a, lda, pivots, info); });
}
cusolverStatus_t cusolverDnSgetrs(cusolverDnHandle_t handle, cublasOperation_t op, int n,
                                  int columns, const float* a, int lda, const int* pivots, float* b,
                                  int ldb, int* info) {
  return guarded(handle, [&] { lu_solve(*handle, op, n, columns, a, lda, pivots, b, ldb, info); });
}
cusolverStatus_t cusolverDnSpotrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t /*part*/,
                                             int n, float* /*a*/, int lda, int* size) {
  return workspace(handle, n >= 0 && lda >= std::max(1, n), size);
}
cusolverStatus_t cusolverDnSpotrf(cusolverDnHandle_t handle, cublasFillMode_t part, int n, float* a,
                                  int lda, float* /*workspace*/, int /*size*/, int* info) {
  return guarded(handle, [&] { cholesky(*handle, part, n, a, lda, info); });
}
cusolverStatus_t cusolverDnSpotrs(cusolverDnHandle_t handle, cublasFillMode_t part, int n,
                                  int columns, const float* a, int lda, float* b, int ldb,
                                  int* info) {
  return guarded(handle, [&] { cholesky_solve(*handle, part, n, columns, a, lda, b, ldb, info); });
}
cusolverStatus_t cusolverDnSgeqrf_bufferSize(cusolverDnHandle_t handle, int m, int n, float* /*a*/,
                                             int lda, int* size) {
  return workspace(handle, m >= 0 && n >= 0 && lda >= std::max(1, m), size);
}
cusolverStatus_t cusolverDnSgeqrf(cusolverDnHandle_t handle, int m, int n, float* a, int lda,
                                  float* tau, float* /*workspace*/, int /*size*/, int* info) {
  return guarded(handle, [&] { qr(*handle, m, n, a, lda, tau, info); });
}
cusolverStatus_t cusolverDnSormqr_bufferSize(cusolverDnHandle_t handle, cublasSideMode_t /*side*/,
                                             cublasOperation_t /*op*/, int m, int n, int k,
                                             const float* /*a*/, int /*lda*/, const float* /*tau*/,
                                             const float* /*c*/, int ldc, int* size) {
  return workspace(handle, m >= 0 && n >= 0 && k >= 0 && ldc >= std::max(1, m), size);
}
cusolverStatus_t cusolverDnSormqr(cusolverDnHandle_t handle, cublasSideMode_t side,
                                  cublasOperation_t op, int m, int n, int k, const float* a,
                                  int lda, const float* tau, float* c, int ldc,
                                  float* /*workspace*/, int /*size*/, int* info) {
  return guarded(handle,
                 [&] { multiply_q(*handle, side, op, m, n, k, a, lda, tau, c, ldc, info); });
}

cusolverStatus_t cusolverDnDgetrf_bufferSize(cusolverDnHandle_t handle, int m, int n, double* /*a*/,
                                             int lda, int* size) {
  return workspace(handle, m >= 0 && n >= 0 && lda >= std::max(1, m), size);
}
cusolverStatus_t cusolverDnDgetrf(cusolverDnHandle_t handle, int m, int n, double* a, int lda,
                                  double* /*workspace*/, int* pivots, int* info) {
  return guarded(handle, [&] { lu(*handle, m, n, a, lda, pivots, info); });
}
cusolverStatus_t cusolverDnDgetrs(cusolverDnHandle_t handle, cublasOperation_t op, int n,
                                  int columns, const double* a, int lda, const int* pivots,
                                  double* b, int ldb, int* info) {
  return guarded(handle, [&] { lu_solve(*handle, op, n, columns, a, lda, pivots, b, ldb, info); });
}
cusolverStatus_t cusolverDnDpotrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t /*part*/,
                                             int n, double* /*a*/, int lda, int* size) {
  return workspace(handle, n >= 0 && lda >= std::max(1, n), size);
}
cusolverStatus_t cusolverDnDpotrf(cusolverDnHandle_t handle, cublasFillMode_t part, int n,
                                  double* a, int lda, double* /*workspace*/, int /*size*/,
                                  int* info) {
  return guarded(handle, [&] { cholesky(*handle, part, n, a, lda, info); });
}
cusolverStatus_t cusolverDnDpotrs(cusolverDnHandle_t handle, cublasFillMode_t part, int n,
                                  int columns, const double* a, int lda, double* b, int ldb,
                                  int* info) {
  return guarded(handle, [&] { cholesky_solve(*handle, part, n, columns, a, lda, b, ldb, info); });
}
cusolverStatus_t cusolverDnDgeqrf_bufferSize(cusolverDnHandle_t handle, int m, int n, double* /*a*/,
                                             int lda, int* size) {
  return workspace(handle, m >= 0 && n >= 0 && lda >= std::max(1, m), size);
}
cusolverStatus_t cusolverDnDgeqrf(cusolverDnHandle_t handle, int m, int n, double* a, int lda,
                                  double* tau, double* /*workspace*/, int /*size*/, int* info) {
  return guarded(handle, [&] { qr(*handle, m, n, a, lda, tau, info); });
}
cusolverStatus_t cusolverDnDormqr_bufferSize(cusolverDnHandle_t handle, cublasSideMode_t /*side*/,
                                             cublasOperation_t /*op*/, int m, int n, int k,
                                             const double* /*a*/, int /*lda*/,
                                             const double* /*tau*/, const double* /*c*/, int ldc,
                                             int* size) {
  return workspace(handle, m >= 0 && n >= 0 && k >= 0 && ldc >= std::max(1, m), size);
}
cusolverStatus_t cusolverDnDormqr(cusolverDnHandle_t handle, cublasSideMode_t side,
                                  cublasOperation_t op, int m, int n, int k, const double* a,
                                  int lda, const double* tau, double* c, int ldc,
                                  double* /*workspace*/, int /*size*/, int* info) {
  return guarded(handle,
                 [&] { multiply_q(*handle, side, op, m, n, k, a, lda, tau, c, ldc, info); });
}

}  // extern "C"
