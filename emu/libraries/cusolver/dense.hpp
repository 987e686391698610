#pragma once
// Factorisations of matrices in device memory, and what solves with them. Pivots are int or, in the
// 64-bit interface, int64_t.

#include <vector>

#include "emu/libraries/cusolver/context.hpp"
#include "emu/libraries/cusolver/factorisations.hpp"

namespace rung::emu::cusolver {

using cublas::download;
using cublas::require;
using cublas::upload;

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

inline std::size_t unsigned_of(int value) { return static_cast<std::size_t>(value); }

template <class T, class Pivot>
void lu(const cusolverDnContext& context, int m, int n, T* a, int lda, Pivot* pivots, int* info) {
  Matrix<T> matrix(context, a, m, n, lda);
  std::vector<int> rows(unsigned_of(std::min(m, n)));
  const int singular = factor_lu(matrix.view(), unsigned_of(m), unsigned_of(n),
                                 pivots == nullptr ? nullptr : rows.data());
  matrix.store(a);
  if (pivots != nullptr) {
    upload(pivots, std::vector<Pivot>(rows.begin(), rows.end()), context.stream);
  }
  report(context, info, singular);
}

template <class T, class Pivot>
void lu_solve(const cusolverDnContext& context, cublasOperation_t op, int n, int columns,
              const T* a, int lda, const Pivot* pivots, T* b, int ldb, int* info) {
  cublas::require_known(op);
  const Matrix<T> matrix(context, a, n, n, lda);
  Matrix<T> right(context, b, n, columns, ldb);
  const std::size_t order = unsigned_of(n);
  const std::vector<Pivot> given =
      pivots == nullptr ? std::vector<Pivot>() : download(pivots, order, context.stream);
  solve_lu<T>(matrix.view(), order, {given.begin(), given.end()}, op != CUBLAS_OP_N, right.view(),
              unsigned_of(columns));
  right.store(b);
  report(context, info, 0);
}

template <class T>
void cholesky(const cusolverDnContext& context, cublasFillMode_t part, int n, T* a, int lda,
              int* info) {
  cublas::require_known(part);
  Matrix<T> matrix(context, a, n, n, lda);
  const int order = factor_cholesky(matrix.view(part == CUBLAS_FILL_MODE_UPPER), unsigned_of(n));
  matrix.store(a);
  report(context, info, order);
}

template <class T>
void cholesky_solve(const cusolverDnContext& context, cublasFillMode_t part, int n, int columns,
                    const T* a, int lda, T* b, int ldb, int* info) {
  cublas::require_known(part);
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
  cublas::require_known(side, op);
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

}  // namespace rung::emu::cusolver
