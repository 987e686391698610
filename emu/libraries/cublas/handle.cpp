// The handle's state, and copies by elements.

#include "emu/libraries/cublas/context.hpp"

using namespace rung::emu::cublas;

namespace {

// `n` elements of `bytes` each, from every `from_step`-th to every `to_step`-th.
cublasStatus_t copy_elements(int n, int bytes, const void* from, int from_step, void* to,
                             int to_step, cudaMemcpyKind kind, cudaStream_t stream) {
  if (n < 0 || bytes <= 0 || from_step <= 0 || to_step <= 0) return CUBLAS_STATUS_INVALID_VALUE;
  const auto size = static_cast<std::size_t>(bytes);
  const cudaError_t error = cudaMemcpy2DAsync(to, static_cast<std::size_t>(to_step) * size, from,
                                              static_cast<std::size_t>(from_step) * size, size,
                                              static_cast<std::size_t>(n), kind, stream);
  if (error != cudaSuccess) return CUBLAS_STATUS_MAPPING_ERROR;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t copy_matrix(int rows, int cols, int bytes, const void* from, int from_ld, void* to,
                           int to_ld, cudaMemcpyKind kind, cudaStream_t stream) {
  if (rows < 0 || cols < 0 || bytes <= 0 || from_ld < rows || to_ld < rows) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const auto size = static_cast<std::size_t>(bytes);
  const cudaError_t error = cudaMemcpy2DAsync(
      to, static_cast<std::size_t>(to_ld) * size, from, static_cast<std::size_t>(from_ld) * size,
      static_cast<std::size_t>(rows) * size, static_cast<std::size_t>(cols), kind, stream);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

cublasStatus_t wait(cublasStatus_t status) {
  cudaStreamSynchronize(cudaStreamLegacy);
  return status;
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = new (std::nothrow) cublasContext;
  return *handle == nullptr ? CUBLAS_STATUS_ALLOC_FAILED : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  delete handle;
  return handle == nullptr ? CUBLAS_STATUS_NOT_INITIALIZED : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int* version) {
  return guarded(handle, [&] { *version = CUBLAS_VERSION; });
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  return guarded(handle, [&] { handle->stream = stream; });
}

cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  return guarded(handle, [&] { *stream = handle->stream; });
}

cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  return guarded(handle, [&] {
    require_known(mode);
    handle->pointer_mode = mode;
  });
}

cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode) {
  return guarded(handle, [&] { *mode = handle->pointer_mode; });
}

// Everything is computed in the precision of its type, so there is no choice.
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  return guarded(handle, [&] { handle->math_mode = mode; });
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  return guarded(handle, [&] { *mode = handle->math_mode; });
}

cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t /*mode*/) {
  return guarded(handle, [] {});
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* /*workspace*/, size_t /*bytes*/) {
  return guarded(handle, [] {});
}

const char* cublasGetStatusString(cublasStatus_t status) {
  switch (status) {
#define RUNG_EMU_STATUS(name) \
  case name: return #name;
    RUNG_EMU_STATUS(CUBLAS_STATUS_SUCCESS)
    RUNG_EMU_STATUS(CUBLAS_STATUS_NOT_INITIALIZED)
    RUNG_EMU_STATUS(CUBLAS_STATUS_ALLOC_FAILED)
    RUNG_EMU_STATUS(CUBLAS_STATUS_INVALID_VALUE)
    RUNG_EMU_STATUS(CUBLAS_STATUS_ARCH_MISMATCH)
    RUNG_EMU_STATUS(CUBLAS_STATUS_MAPPING_ERROR)
    RUNG_EMU_STATUS(CUBLAS_STATUS_EXECUTION_FAILED)
    RUNG_EMU_STATUS(CUBLAS_STATUS_INTERNAL_ERROR)
    RUNG_EMU_STATUS(CUBLAS_STATUS_NOT_SUPPORTED)
    RUNG_EMU_STATUS(CUBLAS_STATUS_LICENSE_ERROR)
#undef RUNG_EMU_STATUS
  }
  return "<unknown>";
}

const char* cublasGetStatusName(cublasStatus_t status) { return cublasGetStatusString(status); }

cublasStatus_t cublasSetVector(int n, int bytes, const void* from, int from_step, void* to,
                               int to_step) {
  return wait(copy_elements(n, bytes, from, from_step, to, to_step, cudaMemcpyHostToDevice,
                            cudaStreamLegacy));
}

cublasStatus_t cublasGetVector(int n, int bytes, const void* from, int from_step, void* to,
                               int to_step) {
  return wait(copy_elements(n, bytes, from, from_step, to, to_step, cudaMemcpyDeviceToHost,
                            cudaStreamLegacy));
}

cublasStatus_t cublasSetVectorAsync(int n, int bytes, const void* from, int from_step, void* to,
                                    int to_step, cudaStream_t stream) {
  return copy_elements(n, bytes, from, from_step, to, to_step, cudaMemcpyHostToDevice, stream);
}

cublasStatus_t cublasGetVectorAsync(int n, int bytes, const void* from, int from_step, void* to,
                                    int to_step, cudaStream_t stream) {
  return copy_elements(n, bytes, from, from_step, to, to_step, cudaMemcpyDeviceToHost, stream);
}

cublasStatus_t cublasSetMatrix(int rows, int cols, int bytes, const void* from, int from_ld,
                               void* to, int to_ld) {
  return wait(copy_matrix(rows, cols, bytes, from, from_ld, to, to_ld, cudaMemcpyHostToDevice,
                          cudaStreamLegacy));
}

cublasStatus_t cublasGetMatrix(int rows, int cols, int bytes, const void* from, int from_ld,
                               void* to, int to_ld) {
  return wait(copy_matrix(rows, cols, bytes, from, from_ld, to, to_ld, cudaMemcpyDeviceToHost,
                          cudaStreamLegacy));
}

cublasStatus_t cublasSetMatrixAsync(int rows, int cols, int bytes, const void* from, int from_ld,
                                    void* to, int to_ld, cudaStream_t stream) {
  return copy_matrix(rows, cols, bytes, from, from_ld, to, to_ld, cudaMemcpyHostToDevice, stream);
}

cublasStatus_t cublasGetMatrixAsync(int rows, int cols, int bytes, const void* from, int from_ld,
                                    void* to, int to_ld, cudaStream_t stream) {
  return copy_matrix(rows, cols, bytes, from, from_ld, to, to_ld, cudaMemcpyDeviceToHost, stream);
}

}  // extern "C"
