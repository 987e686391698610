// Triangular systems with several right sides.

#include "emu/runtime/cublas/context.hpp"
#include "emu/runtime/cusolver/factorisations.hpp"

using namespace rung::emu::cublas;
using rung::emu::cusolver::View;

namespace {

/// b := alpha op(a)^-1 b or, on the other side, alpha b op(a)^-1: the same of the transposes.
template <class T>
void solve(const cublasContext& context, cublasSideMode_t side, cublasFillMode_t part,
           cublasOperation_t op, cublasDiagType_t diagonal, int m, int n, const T* alpha,
           const T* a, int lda, T* b, int ldb) {
  const bool left = side == CUBLAS_SIDE_LEFT;
  const int order = left ? m : n;
  if (m < 0 || n < 0 || lda < std::max(1, order) || ldb < std::max(1, m)) {
    throw Failure{CUBLAS_STATUS_INVALID_VALUE};
  }
  const std::vector<T> triangle = download(a, span(order, order, lda), context.stream);
  std::vector<T> right = download(b, span(m, n, ldb), context.stream);
  const T factor = read_scalar(context, alpha);
  const View<T> all{right.data(), static_cast<std::size_t>(ldb), !left};
  const auto size = static_cast<std::size_t>(order), count = static_cast<std::size_t>(left ? n : m);
  for (std::size_t j = 0; j < count; ++j) {
    for (std::size_t i = 0; i < size; ++i) all(i, j) *= factor;
  }
  const bool transposed = (op != CUBLAS_OP_N) == left;
  const bool lower = (part == CUBLAS_FILL_MODE_LOWER) != transposed;
  const View<const T> view{triangle.data(), static_cast<std::size_t>(lda), transposed};
  rung::emu::cusolver::solve_triangle(view, size, lower, diagonal == CUBLAS_DIAG_UNIT, all, count);
  upload(b, right, context.stream);
}

}  // namespace

extern "C" {

cublasStatus_t cublasStrsm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t part,
                              cublasOperation_t op, cublasDiagType_t diagonal, int m, int n,
                              const float* alpha, const float* a, int lda, float* b, int ldb) {
  return guarded(handle,
                 [&] { solve(*handle, side, part, op, diagonal, m, n, alpha, a, lda, b, ldb); });
}

cublasStatus_t cublasDtrsm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t part,
                              cublasOperation_t op, cublasDiagType_t diagonal, int m, int n,
                              const double* alpha, const double* a, int lda, double* b, int ldb) {
  return guarded(handle,
                 [&] { solve(*handle, side, part, op, diagonal, m, n, alpha, a, lda, b, ldb); });
}

}  // extern "C"
