// cuBLASXt: products of matrices that may be in host memory. They are copied to the device.

#include <limits>

#include "cublasXt.h"
#include "emu/libraries/cublas/context.hpp"

using namespace rung::emu::cublas;

struct cublasXtContext {
  cublasContext blas;
  int block = 2048;  // cuBLASXt's; nothing is divided here
};

namespace {

int as_int(std::size_t value) {
  require(value <= static_cast<std::size_t>(std::numeric_limits<int>::max()));
  return static_cast<int>(value);
}

/// A copy in device memory of a matrix of rows x columns; none of a null address.
template <class T>
class DeviceCopy {
 public:
  DeviceCopy(const T* from, std::size_t rows, std::size_t columns, std::size_t ld)
      : bytes_(span(as_int(rows), as_int(columns), as_int(ld)) * sizeof(T)) {
    require(ld >= rows);
    if (bytes_ == 0 || from == nullptr) return;
    check(cudaMalloc(&device_, bytes_));
    check(cudaMemcpy(device_, from, bytes_, cudaMemcpyDefault));
  }
  ~DeviceCopy() { cudaFree(device_); }
  DeviceCopy(const DeviceCopy&) = delete;
  DeviceCopy& operator=(const DeviceCopy&) = delete;
  T* get() const { return static_cast<T*>(device_); }
  void store(T* to) const {
    if (bytes_ != 0) check(cudaMemcpy(to, device_, bytes_, cudaMemcpyDefault));
  }

 private:
  std::size_t bytes_;
  void* device_ = nullptr;
};

template <class T, class Product>
void multiply(cublasXtContext& context, Product product, cublasOperation_t op_a,
              cublasOperation_t op_b, std::size_t m, std::size_t n, std::size_t k, const T* alpha,
              const T* a, std::size_t lda, const T* b, std::size_t ldb, const T* beta, T* c,
              std::size_t ldc) {
  const bool plain_a = op_a == CUBLAS_OP_N, plain_b = op_b == CUBLAS_OP_N;
  require(alpha != nullptr && is_known(op_a) && is_known(op_b));
  const bool is_read = *alpha != T(0) && m != 0 && n != 0;
  const DeviceCopy<T> left(is_read ? a : nullptr, plain_a ? m : k, plain_a ? k : m, lda);
  const DeviceCopy<T> right(is_read ? b : nullptr, plain_b ? k : n, plain_b ? n : k, ldb);
  const DeviceCopy<T> result(c, m, n, ldc);
  const cublasStatus_t status =
      product(&context.blas, op_a, op_b, as_int(m), as_int(n), as_int(k), alpha, left.get(),
              as_int(lda), right.get(), as_int(ldb), beta, result.get(), as_int(ldc));
  if (status != CUBLAS_STATUS_SUCCESS) throw Failure{status};
  check(cudaDeviceSynchronize());
  result.store(c);
  check(cudaDeviceSynchronize());  // the call returns when C is complete
}

}  // namespace

extern "C" {

cublasStatus_t cublasXtCreate(cublasXtHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = new (std::nothrow) cublasXtContext;
  return *handle == nullptr ? CUBLAS_STATUS_ALLOC_FAILED : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasXtDestroy(cublasXtHandle_t handle) {
  delete handle;
  return handle == nullptr ? CUBLAS_STATUS_NOT_INITIALIZED : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t handle, int count, int devices[]) {
  return guarded(handle, [&] {
    int all = 0;
    check(cudaGetDeviceCount(&all));
    require(count > 0 && devices != nullptr);
    for (int i = 0; i < count; ++i) require(devices[i] >= 0 && devices[i] < all);
  });
}

cublasStatus_t cublasXtSetBlockDim(cublasXtHandle_t handle, int size) {
  return guarded(handle, [&] {
    require(size > 0);
    handle->block = size;
  });
}

cublasStatus_t cublasXtGetBlockDim(cublasXtHandle_t handle, int* size) {
  return guarded(handle, [&] { *size = handle->block; });
}

cublasStatus_t cublasXtSgemm(cublasXtHandle_t handle, cublasOperation_t op_a,
                             cublasOperation_t op_b, size_t m, size_t n, size_t k,
                             const float* alpha, const float* a, size_t lda, const float* b,
                             size_t ldb, const float* beta, float* c, size_t ldc) {
  return guarded(handle, [&] {
    multiply(*handle, cublasSgemm, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  });
}

cublasStatus_t cublasXtDgemm(cublasXtHandle_t handle, cublasOperation_t op_a,
                             cublasOperation_t op_b, size_t m, size_t n, size_t k,
                             const double* alpha, const double* a, size_t lda, const double* b,
                             size_t ldb, const double* beta, double* c, size_t ldc) {
  return guarded(handle, [&] {
    multiply(*handle, cublasDgemm, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  });
}

}  // extern "C"
