// cuSOLVER's 64-bit interface, whose calls get the types of matrices: float and double, and complex
// numbers for eigenvalues. Sizes are limited as in the calls by types.

#include <cuComplex.h>

#include <cstdint>
#include <limits>
#include <new>

#include "emu/libraries/cusolver/dense.hpp"

using namespace rung::emu::cusolver;
using rung::emu::cublas::Failure;

struct cusolverDnParams {};

namespace {

int narrow(std::int64_t value) {
  require(value >= 0 && value <= std::numeric_limits<int>::max());
  return static_cast<int>(value);
}

[[noreturn]] void refuse_type() { throw Failure{CUBLAS_STATUS_NOT_SUPPORTED}; }

/// `call` gets a null pointer to elements of the type.
template <class Call>
void with_type(cudaDataType type, Call&& call) {
  if (type == CUDA_R_32F) return call(static_cast<float*>(nullptr));
  if (type == CUDA_R_64F) return call(static_cast<double*>(nullptr));
  refuse_type();
}

cusolverStatus_t workspaces(cusolverDnHandle_t handle, size_t* on_device, size_t* on_host) {
  return guarded(handle, [&] {
    require(on_device != nullptr && on_host != nullptr);
    *on_device = 1;  // programs allocate it
    *on_host = 0;
  });
}

cusolverStatus_t eigenvalues(cusolverDnHandle_t handle, cusolverEigMode_t mode,
                             cublasFillMode_t part, int n, cudaDataType type, void* a, int lda,
                             void* values, int* info) {
  const auto call = [&](auto function, auto* matrix, auto* real) {
    return function(handle, mode, part, n, matrix, lda, real, nullptr, 1, info);
  };
  float* const floats = static_cast<float*>(values);
  double* const doubles = static_cast<double*>(values);
  if (type == CUDA_R_32F) return call(cusolverDnSsyevd, static_cast<float*>(a), floats);
  if (type == CUDA_R_64F) return call(cusolverDnDsyevd, static_cast<double*>(a), doubles);
  if (type == CUDA_C_32F) return call(cusolverDnCheevd, static_cast<cuComplex*>(a), floats);
  if (type == CUDA_C_64F) {
    return call(cusolverDnZheevd, static_cast<cuDoubleComplex*>(a), doubles);
  }
  return CUSOLVER_STATUS_NOT_SUPPORTED;
}

}  // namespace

extern "C" {

cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* params) {
  if (params == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  *params = new (std::nothrow) cusolverDnParams;
  return *params == nullptr ? CUSOLVER_STATUS_ALLOC_FAILED : CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params) {
  delete params;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnSetAdvOptions(cusolverDnParams_t params, cusolverDnFunction_t /*of*/,
                                         cusolverAlgMode_t /*algorithm*/) {
  return params == nullptr ? CUSOLVER_STATUS_INVALID_VALUE : CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnXgetrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t,
                                             int64_t, cudaDataType, const void*, int64_t,
                                             cudaDataType, size_t* on_device, size_t* on_host) {
  return workspaces(handle, on_device, on_host);
}
cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t m,
                                  int64_t n, cudaDataType type, void* a, int64_t lda,
                                  int64_t* pivots, cudaDataType, void*, size_t, void*, size_t,
                                  int* info) {
  return guarded(handle, [&] {
    with_type(type, [&]<class T>(T*) {
      lu(*handle, narrow(m), narrow(n), static_cast<T*>(a), narrow(lda), pivots, info);
    });
  });
}
cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t handle, cusolverDnParams_t,
                                  cublasOperation_t op, int64_t n, int64_t columns,
                                  cudaDataType type, const void* a, int64_t lda,
                                  const int64_t* pivots, cudaDataType type_of_b, void* b,
                                  int64_t ldb, int* info) {
  return guarded(handle, [&] {
    if (type_of_b != type) refuse_type();
    with_type(type, [&]<class T>(T*) {
      lu_solve(*handle, op, narrow(n), narrow(columns), static_cast<const T*>(a), narrow(lda),
               pivots, static_cast<T*>(b), narrow(ldb), info);
    });
  });
}

cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t,
                                             cublasFillMode_t, int64_t, cudaDataType, const void*,
                                             int64_t, cudaDataType, size_t* on_device,
                                             size_t* on_host) {
  return workspaces(handle, on_device, on_host);
}
cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t,
                                  cublasFillMode_t part, int64_t n, cudaDataType type, void* a,
                                  int64_t lda, cudaDataType, void*, size_t, void*, size_t,
                                  int* info) {
  return guarded(handle, [&] {
    with_type(type, [&]<class T>(T*) {
      cholesky(*handle, part, narrow(n), static_cast<T*>(a), narrow(lda), info);
    });
  });
}
cusolverStatus_t cusolverDnXpotrs(cusolverDnHandle_t handle, cusolverDnParams_t,
                                  cublasFillMode_t part, int64_t n, int64_t columns,
                                  cudaDataType type, const void* a, int64_t lda,
                                  cudaDataType type_of_b, void* b, int64_t ldb, int* info) {
  return guarded(handle, [&] {
    if (type_of_b != type) refuse_type();
    with_type(type, [&]<class T>(T*) {
      cholesky_solve(*handle, part, narrow(n), narrow(columns), static_cast<const T*>(a),
                     narrow(lda), static_cast<T*>(b), narrow(ldb), info);
    });
  });
}

cusolverStatus_t cusolverDnXgeqrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t,
                                             int64_t, cudaDataType, const void*, int64_t,
                                             cudaDataType, const void*, cudaDataType,
                                             size_t* on_device, size_t* on_host) {
  return workspaces(handle, on_device, on_host);
}
cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t m,
                                  int64_t n, cudaDataType type, void* a, int64_t lda,
                                  cudaDataType type_of_tau, void* tau, cudaDataType, void*, size_t,
                                  void*, size_t, int* info) {
  return guarded(handle, [&] {
    if (type_of_tau != type) refuse_type();
    with_type(type, [&]<class T>(T*) {
      qr(*handle, narrow(m), narrow(n), static_cast<T*>(a), narrow(lda), static_cast<T*>(tau),
         info);
    });
  });
}

cusolverStatus_t cusolverDnXsyevd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t,
                                             cusolverEigMode_t, cublasFillMode_t, int64_t,
                                             cudaDataType, const void*, int64_t, cudaDataType,
                                             const void*, cudaDataType, size_t* on_device,
                                             size_t* on_host) {
  return workspaces(handle, on_device, on_host);
}
cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t,
                                  cusolverEigMode_t mode, cublasFillMode_t part, int64_t n,
                                  cudaDataType type, void* a, int64_t lda,
                                  cudaDataType type_of_values, void* values, cudaDataType, void*,
                                  size_t, void*, size_t, int* info) {
  const bool is_double = type == CUDA_R_64F || type == CUDA_C_64F;
  cusolverStatus_t status = CUSOLVER_STATUS_SUCCESS;
  const cusolverStatus_t sizes = guarded(handle, [&] {
    if (type_of_values != (is_double ? CUDA_R_64F : CUDA_R_32F)) refuse_type();
    status = eigenvalues(handle, mode, part, narrow(n), type, a, narrow(lda), values, info);
  });
  return sizes == CUSOLVER_STATUS_SUCCESS ? status : sizes;
}

}  // extern "C"
