// BLAS levels 1 and 2, each as its definition says, with sums in double precision.

#include <cmath>
#include <type_traits>

#include "emu/runtime/cublas/context.hpp"
#include "emu/runtime/cublas/recorded.hpp"

using namespace rung::emu::cublas;

namespace {

template <class T>
void axpy(const cublasContext& context, int n, const T* alpha, const T* x, int incx, T* y,
          int incy) {
  const T factor = read_scalar(context, alpha);
  run_or_record(context, [=](const cublasContext& running) {
    const Vector<const T> from(running, n, x, incx, true);
    Vector<T> to(running, n, y, incy);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::fma(factor, from[i], to[i]);
    to.store(running);
  });
}

template <class T>
void scal(const cublasContext& context, int n, const T* alpha, T* x, int incx) {
  const T factor = read_scalar(context, alpha);
  run_or_record(context, [=](const cublasContext& running) {
    Vector<T> to(running, n, x, incx);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] *= factor;
    to.store(running);
  });
}

template <class T>
void copy(const cublasContext& context, int n, const T* x, int incx, T* y, int incy) {
  run_or_record(context, [=](const cublasContext& running) {
    const Vector<const T> from(running, n, x, incx);
    Vector<T> to(running, n, y, incy);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = from[i];
    to.store(running);
  });
}

template <class T>
void swap(const cublasContext& context, int n, T* x, int incx, T* y, int incy) {
  Vector<T> one(context, n, x, incx), other(context, n, y, incy);
  for (std::size_t i = 0; i < one.size(); ++i) std::swap(one[i], other[i]);
  one.store(context);
  other.store(context);
}

template <class T>
void dot(const cublasContext& context, int n, const T* x, int incx, const T* y, int incy,
         T* result) {
  const Vector<const T> a(context, n, x, incx, true), b(context, n, y, incy, true);
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  write_scalar(context, result, static_cast<T>(sum));
}

template <class T>
void norm(const cublasContext& context, int n, const T* x, int incx, T* result) {
  const Vector<const T> a(context, n, x, incx);
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum = std::hypot(sum, static_cast<double>(a[i]));
  write_scalar(context, result, static_cast<T>(sum));
}

template <class T>
void sum_of_magnitudes(const cublasContext& context, int n, const T* x, int incx, T* result) {
  const Vector<const T> a(context, n, x, incx);
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(static_cast<double>(a[i]));
  write_scalar(context, result, static_cast<T>(sum));
}

/// The first place, counted from 1, of the largest or smallest magnitude; 0 without elements.
template <class T>
void extreme(const cublasContext& context, int n, const T* x, int incx, int* result, bool largest) {
  int found = 0;
  if (n > 0 && incx > 0) {
    const Vector<const T> a(context, n, x, incx);
    std::size_t best = 0;
    for (std::size_t i = 1; i < a.size(); ++i) {
      const T value = std::abs(a[i]), so_far = std::abs(a[best]);
      if (largest ? value > so_far : value < so_far) best = i;
    }
    found = static_cast<int>(best) + 1;
  }
  write_scalar(context, result, found);
}

template <class T>
void gemv(const cublasContext& context, cublasOperation_t op, int m, int n, const T* alpha,
          const T* a, int lda, const T* x, int incx, const T* beta, T* y, int incy) {
  if (m < 0 || n < 0 || lda < m || lda < 1) throw Failure{CUBLAS_STATUS_INVALID_VALUE};
  const bool transposed = op != CUBLAS_OP_N;
  const std::vector<T> matrix = download(a, span(m, n, lda), context.stream);
  const Vector<const T> from(context, transposed ? m : n, x, incx);
  Vector<T> to(context, transposed ? n : m, y, incy);
  const T scale = read_scalar(context, alpha), keep = read_scalar(context, beta);
  for (std::size_t i = 0; i < to.size(); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < from.size(); ++j) {
      const std::size_t row = transposed ? j : i, col = transposed ? i : j;
      sum += static_cast<double>(matrix[row + col * static_cast<std::size_t>(lda)]) * from[j];
    }
    const double kept = keep == 0 ? 0 : static_cast<double>(keep) * to[i];
    to[i] = static_cast<T>(scale * sum + kept);
  }
  to.store(context);
}

template <class T>
void ger(const cublasContext& context, int m, int n, const T* alpha, const T* x, int incx,
         const T* y, int incy, T* a, int lda) {
  if (m < 0 || n < 0 || lda < m || lda < 1) throw Failure{CUBLAS_STATUS_INVALID_VALUE};
  std::vector<T> matrix = download(a, span(m, n, lda), context.stream);
  const Vector<const T> rows(context, m, x, incx), cols(context, n, y, incy);
  const T scale = read_scalar(context, alpha);
  for (std::size_t j = 0; j < cols.size(); ++j) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      matrix[i + j * static_cast<std::size_t>(lda)] += scale * rows[i] * cols[j];
    }
  }
  upload(a, matrix, context.stream);
}

/// C = alpha op(A) + beta op(B).
template <class T>
void geam(const cublasContext& context, cublasOperation_t op_a, cublasOperation_t op_b, int m,
          int n, const T* alpha, const T* a, int lda, const T* beta, const T* b, int ldb, T* c,
          int ldc) {
  const T scale_a = read_scalar(context, alpha), scale_b = read_scalar(context, beta);
  const auto load = [&](cublasOperation_t op, const T* from, int ld, T scale) {
    if (scale == 0) return std::vector<T>();
    return download(from, op == CUBLAS_OP_N ? span(m, n, ld) : span(n, m, ld), context.stream);
  };
  const std::vector<T> host_a = load(op_a, a, lda, scale_a), host_b = load(op_b, b, ldb, scale_b);
  std::vector<T> host_c = download(c, span(m, n, ldc), context.stream);
  const auto at = [](cublasOperation_t op, int i, int j, int ld) {
    const auto row = static_cast<std::size_t>(op == CUBLAS_OP_N ? i : j);
    const auto col = static_cast<std::size_t>(op == CUBLAS_OP_N ? j : i);
    return row + col * static_cast<std::size_t>(ld);
  };
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) {
      T sum = 0;
      if (scale_a != 0) sum += scale_a * host_a[at(op_a, i, j, lda)];
      if (scale_b != 0) sum += scale_b * host_b[at(op_b, i, j, ldb)];
      host_c[at(CUBLAS_OP_N, i, j, ldc)] = sum;
    }
  }
  upload(c, host_c, context.stream);
}

}  // namespace

extern "C" {

#define RUNG_EMU_BLAS(LETTER, LOWER, T)                                                            \
  cublasStatus_t cublas##LETTER##axpy_v2(cublasHandle_t handle, int n, const T* alpha, const T* x, \
                                         int incx, T* y, int incy) {                               \
    return guarded(handle, [&] { axpy(*handle, n, alpha, x, incx, y, incy); });                    \
  }                                                                                                \
  cublasStatus_t cublas##LETTER##scal_v2(cublasHandle_t handle, int n, const T* alpha, T* x,       \
                                         int incx) {                                               \
    return guarded(handle, [&] { scal(*handle, n, alpha, x, incx); });                             \
  }                                                                                                \
  cublasStatus_t cublas##LETTER##copy_v2(cublasHandle_t handle, int n, const T* x, int incx, T* y, \
                                         int incy) {                                               \
    return guarded(handle, [&] { copy(*handle, n, x, incx, y, incy); });                           \
  }                                                                                                \
  cublasStatus_t cublas##LETTER##swap_v2(cublasHandle_t handle, int n, T* x, int incx, T* y,       \
                                         int incy) {                                               \
    return guarded(handle, [&] { swap(*handle, n, x, incx, y, incy); });                           \
  }                                                                                                \
  cublasStatus_t cublas##LETTER##dot_v2(cublasHandle_t handle, int n, const T* x, int incx,        \
                                        const T* y, int incy, T* result) {                         \
    return guarded(handle, [&] { dot(*handle, n, x, incx, y, incy, result); });                    \
  }                                                                                                \
  cublasStatus_t cublas##LETTER##nrm2_v2(cublasHandle_t handle, int n, const T* x, int incx,       \
                                         T* result) {                                              \
    return guarded(handle, [&] { norm(*handle, n, x, incx, result); });                            \
  }                                                                                                \
  cublasStatus_t cublas##LETTER##asum_v2(cublasHandle_t handle, int n, const T* x, int incx,       \
                                         T* result) {                                              \
    return guarded(handle, [&] { sum_of_magnitudes(*handle, n, x, incx, result); });               \
  }                                                                                                \
  cublasStatus_t cublasI##LOWER##amax_v2(cublasHandle_t handle, int n, const T* x, int incx,       \
                                         int* result) {                                            \
    return guarded(handle, [&] { extreme(*handle, n, x, incx, result, true); });                   \
  }                                                                                                \
  cublasStatus_t cublasI##LOWER##amin_v2(cublasHandle_t handle, int n, const T* x, int incx,       \
                                         int* result) {                                            \
    return guarded(handle, [&] { extreme(*handle, n, x, incx, result, false); });                  \
  }                                                                                                \
  cublasStatus_t cublas##LETTER##gemv_v2(cublasHandle_t handle, cublasOperation_t op, int m,       \
                                         int n, const T* alpha, const T* a, int lda, const T* x,   \
                                         int incx, const T* beta, T* y, int incy) {                \
    return guarded(handle,                                                                         \
                   [&] { gemv(*handle, op, m, n, alpha, a, lda, x, incx, beta, y, incy); });       \
  }                                                                                                \
  cublasStatus_t cublas##LETTER##ger_v2(cublasHandle_t handle, int m, int n, const T* alpha,       \
                                        const T* x, int incx, const T* y, int incy, T* a,          \
                                        int lda) {                                                 \
    return guarded(handle, [&] { ger(*handle, m, n, alpha, x, incx, y, incy, a, lda); });          \
  }                                                                                                \
  cublasStatus_t cublas##LETTER##geam(                                                             \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,         \
      const T* alpha, const T* a, int lda, const T* beta, const T* b, int ldb, T* c, int ldc) {    \
    return guarded(handle,                                                                         \
                   [&] { geam(*handle, op_a, op_b, m, n, alpha, a, lda, beta, b, ldb, c, ldc); }); \
  }
RUNG_EMU_BLAS(S, s, float)
RUNG_EMU_BLAS(D, d, double)
#undef RUNG_EMU_BLAS

}  // extern "C"
