// BLAS level 3 and what cuBLAS adds to it. Matrices are made dense first, and products are the
// library's.

#include "rung_emu/cublas/level3.h"
#include "emu/libraries/cublas/storage.hpp"
#include "emu/libraries/cusolver/factorisations.hpp"
#include "rung/gemm.hpp"

using namespace rung::emu::cublas;

namespace {

template <class R>
Dense<R> multiply_real(const Dense<R>& a, const Dense<R>& b) {
  Dense<R> c(a.rows, b.cols);
  if (c.values.empty() || a.cols == 0) return c;
  const auto view = [](auto& of) {
    return rung::col_major(of.values.data(), static_cast<std::ptrdiff_t>(of.rows),
                           static_cast<std::ptrdiff_t>(of.cols),
                           static_cast<std::ptrdiff_t>(of.rows));
  };
  rung::gemm(R(1), view(a), view(b), R(0), view(c));
  return c;
}

template <class E>
Dense<E> multiply(const Dense<E>& a, const Dense<E>& b) {
  if constexpr (!is_complex<E>) {
    return multiply_real(a, b);
  } else {
    using R = typename E::value_type;
    const auto part = [](const Dense<E>& of, R (*take)(const E&)) {
      Dense<R> made(of.rows, of.cols);
      std::transform(of.values.begin(), of.values.end(), made.values.begin(), take);
      return made;
    };
    const auto re = [](const E& value) { return value.real(); };
    const auto im = [](const E& value) { return value.imag(); };
    const Dense<R> a_re = part(a, re), a_im = part(a, im), b_re = part(b, re), b_im = part(b, im);
    const Dense<R> rr = multiply_real(a_re, b_re), ii = multiply_real(a_im, b_im),
                   ri = multiply_real(a_re, b_im), ir = multiply_real(a_im, b_re);
    Dense<E> c(a.rows, b.cols);
    for (std::size_t i = 0; i < c.values.size(); ++i) {
      c.values[i] = {rr.values[i] - ii.values[i], ri.values[i] + ir.values[i]};
    }
    return c;
  }
}

/// c := alpha product + beta c, where is_wanted(i, j).
template <class E, class Factor, class Wanted>
void combine(Stored<E>& c, Factor alpha, const Dense<E>& product, Factor beta,
             const Wanted& is_wanted) {
  for (std::size_t j = 0; j < product.cols; ++j) {
    for (std::size_t i = 0; i < product.rows; ++i) {
      if (!is_wanted(i, j)) continue;
      const E kept = beta == Factor(0) ? E(0) : beta * c(i, j);
      c.set(i, j, alpha * product(i, j) + kept);
    }
  }
}
bool everywhere(std::size_t, std::size_t) { return true; }

/// Replaces all of a matrix by a dense one of its size.
template <class E>
void replace(const cublasContext& context, E* c, int ldc, const Dense<E>& by) {
  const auto rows = static_cast<int>(by.rows), cols = static_cast<int>(by.cols);
  Stored<E> stored(context, c, rows, cols, full(rows, ldc));
  combine(stored, E(1), by, E(0), everywhere);
  stored.store(context);
}

template <class T>
cublasStatus_t symmetric_product(cublasHandle_t handle, cublasSideMode_t side,
                                 cublasFillMode_t part, int m, int n, const T* alpha, const T* a,
                                 int lda, const T* b, int ldb, const T* beta, T* c, int ldc,
                                 bool hermitian) {
  return run(handle, [=, scale = Scalar(handle, alpha),
                      keep = Scalar(handle, beta)](const cublasContext& context) {
    const Element<T> factor = scale.read(context);
    const bool left = side == CUBLAS_SIDE_LEFT, is_read = reads_operands(factor, m, n);
    const int order = left ? m : n;
    const Stored stored(context, elements(a), order, order, full(order, lda), is_read);
    const Dense one = symmetric(stored, order, part, hermitian);
    const Dense other = general(context, elements(b), ldb, m, n, CUBLAS_OP_N, is_read);
    Stored to(context, elements(c), m, n, full(m, ldc));
    combine(to, factor, left ? multiply(one, other) : multiply(other, one), keep.read(context),
            everywhere);
    to.store(context);
  });
}

/// The transpose, or the conjugate transpose, of a dense matrix.
template <class E>
Dense<E> mirrored(const Dense<E>& of, bool hermitian) {
  return dense<E>(of.rows, of.cols, hermitian ? CUBLAS_OP_C : CUBLAS_OP_T, of);
}

template <class E>
void keep_diagonal_real(Stored<E>& c, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) c.set(i, i, E(std::real(c(i, i))));
}

template <class T, class A, class B>
cublasStatus_t rank_update(cublasHandle_t handle, cublasFillMode_t part, cublasOperation_t op,
                           int n, int k, const A* alpha, const T* a, int lda, const T* b, int ldb,
                           const B* beta, T* c, int ldc, bool hermitian) {
  return run(handle, [=, scale = Scalar(handle, alpha),
                      keep = Scalar(handle, beta)](const cublasContext& context) {
    using E = Element<T>;
    const E factor = scale.read(context);
    const bool is_read = factor != E(0);
    const Dense one = general(context, elements(a), lda, n, k, op, is_read);
    const Dense other = general(context, elements(b), ldb, n, k, op, is_read);
    Stored to(context, elements(c), n, n, full(n, ldc));
    combine(to, factor, multiply(one, mirrored(other, hermitian)), E(keep.read(context)),
            [&](std::size_t i, std::size_t j) { return in_part(part, i, j); });
    if (hermitian) keep_diagonal_real(to, extent(n));
    to.store(context);
  });
}

template <class T, class B>
cublasStatus_t rank_update2(cublasHandle_t handle, cublasFillMode_t part, cublasOperation_t op,
                            int n, int k, const T* alpha, const T* a, int lda, const T* b, int ldb,
                            const B* beta, T* c, int ldc, bool hermitian) {
  return run(handle, [=, scale = Scalar(handle, alpha),
                      keep = Scalar(handle, beta)](const cublasContext& context) {
    using E = Element<T>;
    const E factor = scale.read(context), of_swapped = conjugate_if(hermitian, factor);
    const bool is_read = factor != E(0);
    const Dense one = general(context, elements(a), lda, n, k, op, is_read);
    const Dense other = general(context, elements(b), ldb, n, k, op, is_read);
    Dense sum = multiply(one, mirrored(other, hermitian));
    const Dense swapped = multiply(other, mirrored(one, hermitian));
    for (std::size_t i = 0; i < sum.values.size(); ++i) {
      sum.values[i] = factor * sum.values[i] + of_swapped * swapped.values[i];
    }
    Stored to(context, elements(c), n, n, full(n, ldc));
    combine(to, E(1), sum, E(keep.read(context)),
            [&](std::size_t i, std::size_t j) { return in_part(part, i, j); });
    if (hermitian) keep_diagonal_real(to, extent(n));
    to.store(context);
  });
}

template <class E>
Dense<E> scaled(Dense<E> of, E factor) {
  for (E& value : of.values) value *= factor;
  return of;
}

template <class T>
cublasStatus_t triangle_product(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t part,
                                cublasOperation_t op, cublasDiagType_t diagonal, int m, int n,
                                const T* alpha, const T* a, int lda, const T* b, int ldb, T* c,
                                int ldc) {
  return run(handle, [=, scale = Scalar(handle, alpha)](const cublasContext& context) {
    const Element<T> factor = scale.read(context);
    const bool left = side == CUBLAS_SIDE_LEFT, is_read = reads_operands(factor, m, n);
    const int order = left ? m : n;
    const Stored stored(context, elements(a), order, order, full(order, lda), is_read);
    const Dense one = triangle(stored, order, part, diagonal, op);
    const Dense other = general(context, elements(b), ldb, m, n, CUBLAS_OP_N, is_read);
    replace(context, elements(c), ldc,
            scaled(left ? multiply(one, other) : multiply(other, one), factor));
  });
}

/// b := alpha op(a)^-1 b or, on the other side, alpha b op(a)^-1: the same of the transposes.
template <class E>
void solve(const cublasContext& context, cublasSideMode_t side, cublasFillMode_t part,
           cublasOperation_t op, cublasDiagType_t diagonal, int m, int n, E alpha, const E* a,
           int lda, E* b, int ldb) {
  const bool left = side == CUBLAS_SIDE_LEFT;
  const int order = left ? m : n;
  const Places places = full(order, lda);
  if (!reads_operands(alpha, m, n)) {
    return replace(context, b, ldb, Dense<E>(extent(m), extent(n)));
  }
  const Stored stored(context, a, order, order, places);
  const Dense matrix = triangle(stored, order, part, diagonal, op);
  Dense right = scaled(general<E>(context, b, ldb, m, n, CUBLAS_OP_N), alpha);
  const bool lower = ((part == CUBLAS_FILL_MODE_LOWER) != transposes(op)) == left;
  rung::emu::cusolver::solve_triangle<E>({matrix.values.data(), matrix.rows, !left}, matrix.rows,
                                         lower, false, {right.values.data(), right.rows, !left},
                                         left ? right.cols : right.rows);
  replace(context, b, ldb, right);
}

template <class T>
cublasStatus_t triangle_systems(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t part,
                                cublasOperation_t op, cublasDiagType_t diagonal, int m, int n,
                                const T* alpha, const T* a, int lda, T* b, int ldb) {
  return run(handle, [=, scale = Scalar(handle, alpha)](const cublasContext& context) {
    solve(context, side, part, op, diagonal, m, n, scale.read(context), elements(a), lda,
          elements(b), ldb);
  });
}

/// The addresses of the matrices of a batch, which are in device memory.
template <class E>
std::vector<E*> addresses(const cublasContext& context, E* const* list, int count,
                          bool is_read = true) {
  return download_if(is_read, list, extent(count), context.stream);
}

template <class T>
cublasStatus_t triangle_systems_batched(cublasHandle_t handle, cublasSideMode_t side,
                                        cublasFillMode_t part, cublasOperation_t op,
                                        cublasDiagType_t diagonal, int m, int n, const T* alpha,
                                        const T* const a[], int lda, T* const b[], int ldb,
                                        int count) {
  return run(handle, [=, scale = Scalar(handle, alpha)](const cublasContext& context) {
    const Element<T> factor = scale.read(context);
    const auto of_a = addresses(context, elements(a), count, factor != Element<T>(0));
    const auto of_b = addresses(context, elements(b), count);
    for (std::size_t i = 0; i < of_a.size(); ++i) {
      solve(context, side, part, op, diagonal, m, n, factor, of_a[i], lda, of_b[i], ldb);
    }
  });
}

/// C = alpha op(A) + beta op(B); a matrix whose factor is 0 is not read.
template <class T>
cublasStatus_t sum_of_matrices(cublasHandle_t handle, cublasOperation_t op_a,
                               cublasOperation_t op_b, int m, int n, const T* alpha, const T* a,
                               int lda, const T* beta, const T* b, int ldb, T* c, int ldc) {
  return run(handle, [=, scale_a = Scalar(handle, alpha),
                      scale_b = Scalar(handle, beta)](const cublasContext& context) {
    using E = Element<T>;
    Dense<E> sum(extent(m), extent(n));
    const auto add = [&](E factor, const T* from, int ld, cublasOperation_t op) {
      if (factor == E(0)) return;
      const Dense one = general(context, elements(from), ld, m, n, op);
      for (std::size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += factor * one.values[i];
    };
    add(scale_a.read(context), a, lda, op_a);
    add(scale_b.read(context), b, ldb, op_b);
    replace(context, elements(c), ldc, sum);
  });
}

/// C = diag(x) A, or A diag(x).
template <class T>
cublasStatus_t diagonal_product(cublasHandle_t handle, cublasSideMode_t side, int m, int n,
                                const T* a, int lda, const T* x, int incx, T* c, int ldc) {
  return run(handle, [=](const cublasContext& context) {
    const bool left = side == CUBLAS_SIDE_LEFT;
    Dense made = general(context, elements(a), lda, m, n, CUBLAS_OP_N);
    const Vector diagonal(context, left ? m : n, elements(x), incx, {.may_repeat = true});
    for (std::size_t j = 0; j < made.cols; ++j) {
      for (std::size_t i = 0; i < made.rows; ++i) made(i, j) *= diagonal[left ? i : j];
    }
    replace(context, elements(c), ldc, made);
  });
}

template <class E>
void copy_part(const cublasContext& context, cublasFillMode_t part, int n, const E* from,
               const Places& from_places, E* to, const Places& to_places) {
  const Stored source(context, from, n, n, from_places);
  Stored target(context, to, n, n, to_places);
  for (std::size_t j = 0; j < extent(n); ++j) {
    for (std::size_t i = 0; i < extent(n); ++i) {
      if (in_part(part, i, j)) target.set(i, j, source(i, j));
    }
  }
  target.store(context);
}

template <class T>
cublasStatus_t unpack(cublasHandle_t handle, cublasFillMode_t part, int n, const T* from, T* a,
                      int lda) {
  return run(handle, [=](const cublasContext& context) {
    copy_part(context, part, n, elements(from), packed(part, n), elements(a), full(n, lda));
  });
}

template <class T>
cublasStatus_t pack(cublasHandle_t handle, cublasFillMode_t part, int n, const T* a, int lda,
                    T* to) {
  return run(handle, [=](const cublasContext& context) {
    copy_part(context, part, n, elements(a), full(n, lda), elements(to), packed(part, n));
  });
}

/// y := alpha op(A) x + beta y, as a product with one column.
template <class E>
void matrix_times_vector(const cublasContext& context, cublasOperation_t op, int m, int n, E alpha,
                         const E* a, int lda, const E* x, int incx, E beta, E* y, int incy) {
  if (transposes(op)) std::swap(m, n);
  const bool is_read = reads_operands(alpha, m, 1);
  const Dense matrix = general(context, a, lda, m, n, op, is_read);
  const Vector from(context, n, x, incx, {.is_read = is_read});
  Dense<E> column(from.size(), 1);
  for (std::size_t i = 0; i < from.size(); ++i) column(i, 0) = from[i];
  const Dense product = multiply(matrix, column);
  Vector to(context, m, y, incy);
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] = alpha * product(i, 0) + (beta == E(0) ? E(0) : beta * to[i]);
  }
  to.store(context);
}

template <class T>
cublasStatus_t gemv_pointers(cublasHandle_t handle, cublasOperation_t op, int m, int n,
                             const T* alpha, const T* const a[], int lda, const T* const x[],
                             int incx, const T* beta, T* const y[], int incy, int count) {
  return run(handle, [=, scale = Scalar(handle, alpha),
                      keep = Scalar(handle, beta)](const cublasContext& context) {
    const Element<T> factor = scale.read(context);
    const bool is_read = factor != Element<T>(0);
    const auto of_a = addresses(context, elements(a), count, is_read);
    const auto of_x = addresses(context, elements(x), count, is_read);
    const auto of_y = addresses(context, elements(y), count);
    for (std::size_t i = 0; i < of_a.size(); ++i) {
      matrix_times_vector(context, op, m, n, factor, of_a[i], lda, of_x[i], incx,
                          keep.read(context), of_y[i], incy);
    }
  });
}

template <class T>
cublasStatus_t gemv_strided(cublasHandle_t handle, cublasOperation_t op, int m, int n,
                            const T* alpha, const T* a, int lda, long long stride_a, const T* x,
                            int incx, long long stride_x, const T* beta, T* y, int incy,
                            long long stride_y, int count) {
  return run(handle, [=, scale = Scalar(handle, alpha),
                      keep = Scalar(handle, beta)](const cublasContext& context) {
    for (int i = 0; i < count; ++i) {
      matrix_times_vector(context, op, m, n, scale.read(context), elements(a + i * stride_a), lda,
                          elements(x + i * stride_x), incx, keep.read(context),
                          elements(y + i * stride_y), incy);
    }
  });
}

template <class E>
void general_product(const cublasContext& context, cublasOperation_t op_a, cublasOperation_t op_b,
                     int m, int n, int k, E alpha, const E* a, int lda, const E* b, int ldb, E beta,
                     E* c, int ldc) {
  Stored to(context, c, m, n, full(m, ldc));
  const bool is_read = reads_operands(alpha, m, n);
  const Dense one = general(context, a, lda, m, k, op_a, is_read);
  const Dense other = general(context, b, ldb, k, n, op_b, is_read);
  combine(to, alpha, multiply(one, other), beta, everywhere);
  to.store(context);
}

template <class T>
cublasStatus_t complex_product(cublasHandle_t handle, cublasOperation_t op_a,
                               cublasOperation_t op_b, int m, int n, int k, const T* alpha,
                               const T* a, int lda, long long stride_a, const T* b, int ldb,
                               long long stride_b, const T* beta, T* c, int ldc, long long stride_c,
                               int count) {
  return run(handle, [=, scale = Scalar(handle, alpha),
                      keep = Scalar(handle, beta)](const cublasContext& context) {
    for (int i = 0; i < count; ++i) {
      general_product(context, op_a, op_b, m, n, k, scale.read(context), elements(a + i * stride_a),
                      lda, elements(b + i * stride_b), ldb, keep.read(context),
                      elements(c + i * stride_c), ldc);
    }
  });
}

template <class T>
cublasStatus_t complex_product_pointers(cublasHandle_t handle, cublasOperation_t op_a,
                                        cublasOperation_t op_b, int m, int n, int k, const T* alpha,
                                        const T* const a[], int lda, const T* const b[], int ldb,
                                        const T* beta, T* const c[], int ldc, int count) {
  return run(handle, [=, scale = Scalar(handle, alpha),
                      keep = Scalar(handle, beta)](const cublasContext& context) {
    const Element<T> factor = scale.read(context);
    const bool is_read = factor != Element<T>(0) && k != 0;
    const auto of_a = addresses(context, elements(a), count, is_read);
    const auto of_b = addresses(context, elements(b), count, is_read);
    const auto of_c = addresses(context, elements(c), count);
    for (std::size_t i = 0; i < of_a.size(); ++i) {
      general_product(context, op_a, op_b, m, n, k, factor, of_a[i], lda, of_b[i], ldb,
                      keep.read(context), of_c[i], ldc);
    }
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
RUNG_EMU_ALL_BLAS3(RUNG_EMU_DEFINE)
#undef RUNG_EMU_DEFINE
}
