// cuSOLVER on dense matrices, computed on the CPU.

#include "cusolverDn.h"

#include "emu/runtime/cusolver/context.hpp"
#include "emu/runtime/cusolver/factorisations.hpp"

using namespace rung::emu::cusolver;
using rung::emu::cublas::download;
using rung::emu::cublas::require;
using rung::emu::cublas::upload;

namespace {

/// A copy of a matrix in device memory.
template <class T>
class Matrix {
 public:
  Matrix(const cusolverDnContext& context, const T* device, int rows, int columns, int ld)
      : stream_(context.stream), ld_(static_cast<std::size_t>(ld)) {
    require(rows >= 0 && columns >= 0 && ld >= std::max(1, rows));
    data_ = download(device, rung::emu::cublas::span(rows, columns, ld), stream_);
  }
  View<T> view(bool transposed = false) { return {data_.data(), ld_, transposed}; }
  View<const T> view(bool transposed = false) const { return {data_.data(), ld_, transposed}; }
  void store(T* device) const { upload(device, data_, stream_); }

 private:
  cudaStream_t stream_;
  std::size_t ld_;
  std::vector<T> data_;
};

std::size_t unsigned_of(int value) { return static_cast<std::size_t>(value); }

template <class T>
void lu(const cusolverDnContext& context, int m, int n, T* a, int lda, int* pivots, int* info) {
  Matrix<T> matrix(context, a, m, n, lda);
  std::vector<int> rows(unsigned_of(std::min(m, n)));
  const int singular = factor_lu(matrix.view(), unsigned_of(m), unsigned_of(n),
                                 pivots == nullptr ? nullptr : rows.data());
  matrix.store(a);
  if (pivots != nullptr) upload(pivots, rows, context.stream);
  report(context, info, singular);
}

template <class T>
void lu_solve(const cusolverDnContext& context, cublasOperation_t op, int n, int columns,
              const T* a, int lda, const int* pivots, T* b, int ldb, int* info) {
  const Matrix<T> matrix(context, a, n, n, lda);
  Matrix<T> right(context, b, n, columns, ldb);
  const std::size_t order = unsigned_of(n);
  const std::vector<int> rows =
      pivots == nullptr ? std::vector<int>() : download(pivots, order, context.stream);
  solve_lu<T>(matrix.view(), order, rows, op != CUBLAS_OP_N, right.view(), unsigned_of(columns));
  right.store(b);
  report(context, info, 0);
}

template <class T>
void cholesky(const cusolverDnContext& context, cublasFillMode_t part, int n, T* a, int lda,
              int* info) {
  Matrix<T> matrix(context, a, n, n, lda);
  const int order = factor_cholesky(matrix.view(part == CUBLAS_FILL_MODE_UPPER), unsigned_of(n));
  matrix.store(a);
  report(context, info, order);
}

template <class T>
void cholesky_solve(const cusolverDnContext& context, cublasFillMode_t part, int n, int columns,
                    const T* a, int lda, T* b, int ldb, int* info) {
  const Matrix<T> matrix(context, a, n, n, lda);
  Matrix<T> right(context, b, n, columns, ldb);
  const bool upper = part == CUBLAS_FILL_MODE_UPPER;
  const std::size_t order = unsigned_of(n), count = unsigned_of(columns);
  solve_triangle(matrix.view(upper), order, true, false, right.view(), count);
  solve_triangle(matrix.view(!upper), order, false, false, right.view(), count);
  right.store(b);
  report(context, info, 0);
}

template <class T>
void qr(const cusolverDnContext& context, int m, int n, T* a, int lda, T* tau, int* info) {
  Matrix<T> matrix(context, a, m, n, lda);
  std::vector<T> factors(unsigned_of(std::min(m, n)));
  factor_qr(matrix.view(), unsigned_of(m), unsigned_of(n), factors.data());
  matrix.store(a);
  upload(tau, factors, context.stream);
  report(context, info, 0);
}

// C Q is the transpose of Q^T C^T.
template <class T>
void multiply_q(const cusolverDnContext& context, cublasSideMode_t side, cublasOperation_t op,
                int m, int n, int k, const T* a, int lda, const T* tau, T* c, int ldc, int* info) {
  const bool left = side == CUBLAS_SIDE_LEFT;
  const int order = left ? m : n;
  require(k >= 0 && k <= order);
  const Matrix<T> reflections(context, a, order, k, lda);
  Matrix<T> product(context, c, m, n, ldc);
  const std::vector<T> factors = download(tau, unsigned_of(k), context.stream);
  apply_q(reflections.view(), factors, unsigned_of(order), product.view(!left),
          unsigned_of(left ? n : m), (op != CUBLAS_OP_N) == left);
  product.store(c);
  report(context, info, 0);
}

}  // namespace

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
