// BLAS level 2: matrices are made dense first, sums are in double precision.

#include "rung_emu/cublas/level2.h"
#include "emu/libraries/cublas/storage.hpp"
#include "emu/libraries/cusolver/factorisations.hpp"

using namespace rung::emu::cublas;

namespace {

/// y := alpha A x + beta y.
template <class E>
void multiply_add(const Dense<E>& a, E alpha, const Vector<const E>& x, E beta, Vector<E>& y) {
  for (std::size_t i = 0; i < y.size(); ++i) {
    Wide<E> sum = 0;
    for (std::size_t j = 0; j < x.size(); ++j) sum += Wide<E>(a(i, j)) * Wide<E>(x[j]);
    const Wide<E> kept = beta == E(0) ? Wide<E>(0) : Wide<E>(beta) * Wide<E>(y[i]);
    y[i] = E(Wide<E>(alpha) * sum + kept);
  }
}

template <class T>
cublasStatus_t times(cublasHandle_t handle, cublasOperation_t op, int m, int n, const T* alpha,
                     const T* a, const Places& places, const T* x, int incx, const T* beta, T* y,
                     int incy) {
  using E = Element<T>;
  return run(handle, [=, scale = Scalar(handle, alpha),
                      keep = Scalar(handle, beta)](const cublasContext& context) {
    const E factor = scale.read(context);
    const bool is_read = reads_operands(factor, transposes(op) ? n : m, 1);
    const Stored stored(context, elements(a), m, n, places, is_read);
    const Dense matrix = dense<E>(extent(m), extent(n), op, stored);
    const Vector from(context, static_cast<int>(matrix.cols), elements(x), incx,
                      {.is_read = is_read});
    Vector to(context, static_cast<int>(matrix.rows), elements(y), incy);
    multiply_add<E>(matrix, factor, from, keep.read(context), to);
    to.store(context);
  });
}

template <class T>
cublasStatus_t symmetric_times(cublasHandle_t handle, cublasFillMode_t part, int n, const T* alpha,
                               const T* a, const Places& places, const T* x, int incx,
                               const T* beta, T* y, int incy, bool hermitian) {
  using E = Element<T>;
  return run(handle, [=, scale = Scalar(handle, alpha),
                      keep = Scalar(handle, beta)](const cublasContext& context) {
    const E factor = scale.read(context);
    const bool is_read = factor != E(0);
    const Stored stored(context, elements(a), n, n, places, is_read);
    const Vector from(context, n, elements(x), incx, {.is_read = is_read});
    Vector to(context, n, elements(y), incy);
    multiply_add<E>(symmetric(stored, n, part, hermitian), factor, from, keep.read(context), to);
    to.store(context);
  });
}

template <class T>
cublasStatus_t triangle_times(cublasHandle_t handle, cublasFillMode_t part, cublasOperation_t op,
                              cublasDiagType_t diagonal, int n, const T* a, const Places& places,
                              T* x, int incx) {
  using E = Element<T>;
  return run(handle, [=](const cublasContext& context) {
    const Stored stored(context, elements(a), n, n, places);
    const Vector from(context, n, static_cast<const E*>(elements(x)), incx);
    Vector to(context, n, elements(x), incx);
    multiply_add<E>(triangle(stored, n, part, diagonal, op), E(1), from, E(0), to);
    to.store(context);
  });
}

template <class T>
cublasStatus_t triangle_solve(cublasHandle_t handle, cublasFillMode_t part, cublasOperation_t op,
                              cublasDiagType_t diagonal, int n, const T* a, const Places& places,
                              T* x, int incx) {
  using E = Element<T>;
  return run(handle, [=](const cublasContext& context) {
    const Stored stored(context, elements(a), n, n, places);
    const Dense matrix = triangle(stored, n, part, diagonal, op);
    Vector to(context, n, elements(x), incx);
    std::vector<E> right(to.size());
    for (std::size_t i = 0; i < right.size(); ++i) right[i] = to[i];
    const bool lower = (part == CUBLAS_FILL_MODE_LOWER) != transposes(op);
    rung::emu::cusolver::solve_triangle<E>({matrix.values.data(), matrix.rows}, right.size(), lower,
                                           false, {right.data(), right.size()}, 1);
    for (std::size_t i = 0; i < right.size(); ++i) to[i] = right[i];
    to.store(context);
  });
}

template <class T>
cublasStatus_t ger(cublasHandle_t handle, int m, int n, const T* alpha, const T* x, int incx,
                   const T* y, int incy, T* a, int lda, bool conjugated) {
  return run(handle, [=, scale = Scalar(handle, alpha)](const cublasContext& context) {
    const Places places = full(m, lda);
    const Element<T> factor = scale.read(context);
    if (!reads_operands(factor, m, n)) return;
    Stored stored(context, elements(a), m, n, places);
    const Vector rows(context, m, elements(x), incx), cols(context, n, elements(y), incy);
    for (std::size_t j = 0; j < cols.size(); ++j) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        stored.set(i, j, stored(i, j) + factor * rows[i] * conjugate_if(conjugated, cols[j]));
      }
    }
    stored.store(context);
  });
}

/// Adds at(i, j) to one part; the diagonal of a hermitian matrix stays real.
template <class E, class At>
void add_to_part(Stored<E>& a, std::size_t n, cublasFillMode_t part, bool hermitian, const At& at) {
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      if (!in_part(part, i, j)) continue;
      const E sum = a(i, j) + at(i, j);
      a.set(i, j, hermitian && i == j ? E(std::real(sum)) : sum);
    }
  }
}

template <class T, class R>
cublasStatus_t update(cublasHandle_t handle, cublasFillMode_t part, int n, const R* alpha,
                      const T* x, int incx, T* a, const Places& places, bool hermitian) {
  return run(handle, [=, scale = Scalar(handle, alpha)](const cublasContext& context) {
    const Element<R> factor = scale.read(context);
    if (factor == Element<R>(0)) return;
    Stored stored(context, elements(a), n, n, places);
    const Vector v(context, n, elements(x), incx);
    add_to_part(stored, v.size(), part, hermitian, [&](std::size_t i, std::size_t j) {
      return factor * v[i] * conjugate_if(hermitian, v[j]);
    });
    stored.store(context);
  });
}

template <class T>
cublasStatus_t update2(cublasHandle_t handle, cublasFillMode_t part, int n, const T* alpha,
                       const T* x, int incx, const T* y, int incy, T* a, const Places& places,
                       bool hermitian) {
  return run(handle, [=, scale = Scalar(handle, alpha)](const cublasContext& context) {
    const Element<T> factor = scale.read(context), mirrored = conjugate_if(hermitian, factor);
    if (factor == Element<T>(0)) return;
    Stored stored(context, elements(a), n, n, places);
    const Vector v(context, n, elements(x), incx), w(context, n, elements(y), incy);
    add_to_part(stored, v.size(), part, hermitian, [&](std::size_t i, std::size_t j) {
      return factor * v[i] * conjugate_if(hermitian, w[j]) +
             mirrored * w[i] * conjugate_if(hermitian, v[j]);
    });
    stored.store(context);
  });
}

}  // namespace

extern "C" {
#define RUNG_EMU_DEFINE(name, work, parameters, arguments) \
  cublasStatus_t name parameters {                         \
    return caught([&] {                                    \
      require_known arguments;                             \
      return work arguments;                               \
    });                                                    \
  }
RUNG_EMU_ALL_BLAS2(RUNG_EMU_DEFINE)
#undef RUNG_EMU_DEFINE
}
