// LU of many small matrices, and what solves with it. The arrays of pointers are in device memory.

#include "emu/libraries/cublas/context.hpp"
#include "emu/libraries/cusolver/factorisations.hpp"

using namespace rung::emu::cublas;
using rung::emu::cusolver::View;

namespace {

std::size_t unsigned_of(int value) { return static_cast<std::size_t>(value); }

template <class T>
void factor(const cublasContext& context, int n, T* const* a, int lda, int* pivots, int* info,
            int batch) {
  require(n >= 0 && batch >= 0 && lda >= std::max(1, n));
  std::vector<int> all_rows, all_info;
  for (T* const matrix : download(a, unsigned_of(batch), context.stream)) {
    std::vector<T> copy = download(matrix, span(n, n, lda), context.stream);
    std::vector<int> rows(unsigned_of(n));
    const View<T> view{copy.data(), unsigned_of(lda)};
    all_info.push_back(rung::emu::cusolver::factor_lu(view, unsigned_of(n), unsigned_of(n),
                                                      pivots == nullptr ? nullptr : rows.data()));
    upload(matrix, copy, context.stream);
    all_rows.insert(all_rows.end(), rows.begin(), rows.end());
  }
  if (pivots != nullptr) upload(pivots, all_rows, context.stream);
  upload(info, all_info, context.stream);
}

/// The row order of matrix `i`; the identity if the factors were made without exchanges.
std::vector<int> rows_of(const cublasContext& context, const int* pivots, int n, std::size_t i) {
  if (pivots == nullptr) return {};
  return download(pivots + i * unsigned_of(n), unsigned_of(n), context.stream);
}

template <class T>
void solve(const cublasContext& context, cublasOperation_t op, int n, int columns,
           const T* const* a, int lda, const int* pivots, T* const* b, int ldb, int* info,
           int batch) {
  require(n >= 0 && columns >= 0 && batch >= 0 && lda >= std::max(1, n) && ldb >= std::max(1, n));
  const auto factors = download(a, unsigned_of(batch), context.stream);
  const auto sides = download(b, unsigned_of(batch), context.stream);
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const std::vector<T> lu = download(factors[i], span(n, n, lda), context.stream);
    std::vector<T> right = download(sides[i], span(n, columns, ldb), context.stream);
    rung::emu::cusolver::solve_lu<T>({lu.data(), unsigned_of(lda)}, unsigned_of(n),
                                     rows_of(context, pivots, n, i), op != CUBLAS_OP_N,
                                     {right.data(), unsigned_of(ldb)}, unsigned_of(columns));
    upload(sides[i], right, context.stream);
  }
  if (info != nullptr) *info = 0;  // of the arguments, in host memory
}

template <class T>
void invert(const cublasContext& context, int n, const T* const* a, int lda, const int* pivots,
            T* const* c, int ldc, int* info, int batch) {
  require(n >= 0 && batch >= 0 && lda >= std::max(1, n) && ldc >= std::max(1, n));
  const auto factors = download(a, unsigned_of(batch), context.stream);
  const auto inverses = download(c, unsigned_of(batch), context.stream);
  std::vector<int> all_info;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const std::vector<T> lu = download(factors[i], span(n, n, lda), context.stream);
    std::vector<T> inverse = download(inverses[i], span(n, n, ldc), context.stream);
    const View<T> view{inverse.data(), unsigned_of(ldc)};
    int singular = 0;
    for (std::size_t k = unsigned_of(n); k-- > 0;) {
      for (std::size_t j = 0; j < unsigned_of(n); ++j) view(k, j) = k == j ? T(1) : T(0);
      if (lu[k * unsigned_of(lda) + k] == T(0)) singular = static_cast<int>(k) + 1;
    }
    rung::emu::cusolver::solve_lu<T>({lu.data(), unsigned_of(lda)}, unsigned_of(n),
                                     rows_of(context, pivots, n, i), false, view, unsigned_of(n));
    upload(inverses[i], inverse, context.stream);
    all_info.push_back(singular);
  }
  upload(info, all_info, context.stream);
}

/// Inverses of matrices that are not factored yet, and stay as they are.
template <class T>
void invert_all(const cublasContext& context, int n, const T* const* a, int lda, T* const* c,
                int ldc, int* info, int batch) {
  require(n >= 0 && n <= 32 && batch >= 0 && lda >= std::max(1, n) && ldc >= std::max(1, n));
  const auto matrices = download(a, unsigned_of(batch), context.stream);
  const auto inverses = download(c, unsigned_of(batch), context.stream);
  const std::size_t order = unsigned_of(n);
  std::vector<int> all_info;
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    std::vector<T> lu = download(matrices[i], span(n, n, lda), context.stream);
    std::vector<int> rows(order);
    all_info.push_back(rung::emu::cusolver::factor_lu<T>({lu.data(), unsigned_of(lda)}, order,
                                                         order, rows.data()));
    std::vector<T> inverse = download(inverses[i], span(n, n, ldc), context.stream);
    const View<T> view{inverse.data(), unsigned_of(ldc)};
    for (std::size_t j = 0; j < order; ++j) {
      for (std::size_t k = 0; k < order; ++k) view(k, j) = k == j ? T(1) : T(0);
    }
    rung::emu::cusolver::solve_lu<T>({lu.data(), unsigned_of(lda)}, order, rows, false, view,
                                     order);
    upload(inverses[i], inverse, context.stream);
  }
  upload(info, all_info, context.stream);
}

}  // namespace

extern "C" {

cublasStatus_t cublasSmatinvBatched(cublasHandle_t handle, int n, const float* const a[], int lda,
                                    float* const inverses[], int ldc, int* info, int batch) {
  return guarded(handle, [&] { invert_all(*handle, n, a, lda, inverses, ldc, info, batch); });
}
cublasStatus_t cublasDmatinvBatched(cublasHandle_t handle, int n, const double* const a[], int lda,
                                    double* const inverses[], int ldc, int* info, int batch) {
  return guarded(handle, [&] { invert_all(*handle, n, a, lda, inverses, ldc, info, batch); });
}

cublasStatus_t cublasSgetrfBatched(cublasHandle_t handle, int n, float* const a[], int lda,
                                   int* pivots, int* info, int batch) {
  return guarded(handle, [&] { factor(*handle, n, a, lda, pivots, info, batch); });
}
cublasStatus_t cublasSgetriBatched(cublasHandle_t handle, int n, const float* const a[], int lda,
                                   const int* pivots, float* const c[], int ldc, int* info,
                                   int batch) {
  return guarded(handle, [&] { invert(*handle, n, a, lda, pivots, c, ldc, info, batch); });
}
cublasStatus_t cublasSgetrsBatched(cublasHandle_t handle, cublasOperation_t op, int n, int columns,
                                   const float* const a[], int lda, const int* pivots,
                                   float* const b[], int ldb, int* info, int batch) {
  return guarded(handle,
                 [&] { solve(*handle, op, n, columns, a, lda, pivots, b, ldb, info, batch); });
}

cublasStatus_t cublasDgetrfBatched(cublasHandle_t handle, int n, double* const a[], int lda,
                                   int* pivots, int* info, int batch) {
  return guarded(handle, [&] { factor(*handle, n, a, lda, pivots, info, batch); });
}
cublasStatus_t cublasDgetriBatched(cublasHandle_t handle, int n, const double* const a[], int lda,
                                   const int* pivots, double* const c[], int ldc, int* info,
                                   int batch) {
  return guarded(handle, [&] { invert(*handle, n, a, lda, pivots, c, ldc, info, batch); });
}
cublasStatus_t cublasDgetrsBatched(cublasHandle_t handle, cublasOperation_t op, int n, int columns,
                                   const double* const a[], int lda, const int* pivots,
                                   double* const b[], int ldb, int* info, int batch) {
  return guarded(handle,
                 [&] { solve(*handle, op, n, columns, a, lda, pivots, b, ldb, info, batch); });
}

}  // extern "C"
