#pragma once
// Common parts of the cuSOLVER calls.

#include "cusolverDn.h"
#include "emu/libraries/cublas/context.hpp"

struct cusolverDnContext {
  cudaStream_t stream = nullptr;
};

namespace rung::emu::cusolver {

template <class Call>
cusolverStatus_t guarded(cusolverDnHandle_t handle, Call&& call) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  switch (cublas::guarded(handle, std::forward<Call>(call), "cuSOLVER call")) {
    case CUBLAS_STATUS_SUCCESS: return CUSOLVER_STATUS_SUCCESS;
    case CUBLAS_STATUS_ALLOC_FAILED: return CUSOLVER_STATUS_ALLOC_FAILED;
    case CUBLAS_STATUS_EXECUTION_FAILED: return CUSOLVER_STATUS_EXECUTION_FAILED;
    case CUBLAS_STATUS_NOT_SUPPORTED: return CUSOLVER_STATUS_NOT_SUPPORTED;
    default: return CUSOLVER_STATUS_INVALID_VALUE;
  }
}

/// False for a value that the enumeration lacks.
inline bool is_known(cusolverEigMode_t mode) {
  return mode == CUSOLVER_EIG_MODE_NOVECTOR || mode == CUSOLVER_EIG_MODE_VECTOR;
}

/// Programs allocate it, and an allocation has at least a byte.
inline cusolverStatus_t workspace(cusolverDnHandle_t handle, bool is_valid, int* size) {
  return cusolver::guarded(handle, [&] {
    cublas::require(is_valid && size != nullptr);
    *size = 1;
  });
}

inline void report(const cusolverDnContext& context, int* info, int value) {
  if (info != nullptr) cublas::upload(info, std::vector<int>{value}, context.stream);
}

}  // namespace rung::emu::cusolver
