#pragma once
// Factorisations of dense matrices by columns, in place, with LAPACK's results: Golub and Van Loan,
// "Matrix Computations", algorithms 3.4.1 (LU), 4.2.1 (Cholesky) and 5.2.1 (QR).

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace rung::emu::cusolver {

/// A matrix by columns; its transpose, if that is asked for.
template <class T>
struct View {
  T* data;
  std::size_t ld;
  bool transposed = false;
  T& operator()(std::size_t i, std::size_t j) const {
    return transposed ? data[i * ld + j] : data[j * ld + i];
  }
};

/// P A = L U. Pivots from 1. Returns the first column, from 1, whose pivot is zero, or 0.
template <class T>
int factor_lu(View<T> a, std::size_t m, std::size_t n, int* pivots) {
  int singular = 0;
  for (std::size_t k = 0; k < std::min(m, n); ++k) {
    std::size_t best = k;
    for (std::size_t i = k + 1; i < m; ++i) {
      if (std::abs(a(i, k)) > std::abs(a(best, k))) best = i;
    }
    if (pivots != nullptr) {
      pivots[k] = static_cast<int>(best) + 1;
      for (std::size_t j = 0; best != k && j < n; ++j) std::swap(a(k, j), a(best, j));
    }
    if (a(k, k) == T(0)) {
      if (singular == 0) singular = static_cast<int>(k) + 1;
      continue;
    }
    for (std::size_t i = k + 1; i < m; ++i) a(i, k) /= a(k, k);
    for (std::size_t j = k + 1; j < n; ++j) {
      for (std::size_t i = k + 1; i < m; ++i) a(i, j) -= a(i, k) * a(k, j);
    }
  }
  return singular;
}

/// A = L L^T, of the lower part alone. Returns the order of the first leading part, from 1, that is
/// not positive definite, or 0.
template <class T>
int factor_cholesky(View<T> a, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < j; ++k) {
      for (std::size_t i = j; i < n; ++i) a(i, j) -= a(i, k) * a(j, k);
    }
    if (!(a(j, j) > T(0))) return static_cast<int>(j) + 1;
    const T root = std::sqrt(a(j, j));
    for (std::size_t i = j; i < n; ++i) a(i, j) /= root;
  }
  return 0;
}

/// c := (1 - tau v v^T) c, of rows k to m; v is 1 and then column k of a.
template <class T>
void reflect(View<const T> a, T tau, std::size_t k, std::size_t m, View<T> c, std::size_t columns) {
  for (std::size_t j = 0; j < columns; ++j) {
    T sum = c(k, j);
    for (std::size_t i = k + 1; i < m; ++i) sum += a(i, k) * c(i, j);
    c(k, j) -= tau * sum;
    for (std::size_t i = k + 1; i < m; ++i) c(i, j) -= tau * sum * a(i, k);
  }
}

/// A = Q R: R above, the vectors of the reflections below the diagonal, as LAPACK's geqrf.
template <class T>
void factor_qr(View<T> a, std::size_t m, std::size_t n, T* tau) {
  for (std::size_t k = 0; k < std::min(m, n); ++k) {
    T below = 0;
    for (std::size_t i = k + 1; i < m; ++i) below += a(i, k) * a(i, k);
    tau[k] = 0;
    if (below == T(0)) continue;
    const T alpha = a(k, k);
    const T beta = -std::copysign(std::sqrt(alpha * alpha + below), alpha);
    tau[k] = (beta - alpha) / beta;
    for (std::size_t i = k + 1; i < m; ++i) a(i, k) /= alpha - beta;
    a(k, k) = beta;
    if (k + 1 == n) continue;
    const View<T> rest{&a(0, k + 1), a.ld};
    reflect<T>({a.data, a.ld}, tau[k], k, m, rest, n - k - 1);
  }
}

/// c := Q c or Q^T c, of m rows; Q has k reflections.
template <class T>
void apply_q(View<const T> a, const std::vector<T>& tau, std::size_t m, View<T> c,
             std::size_t columns, bool is_transposed) {
  for (std::size_t step = 0; step < tau.size(); ++step) {
    const std::size_t k = is_transposed ? step : tau.size() - 1 - step;
    reflect(a, tau[k], k, m, c, columns);
  }
}

/// Solves T x = b in place, for a triangle T.
template <class T>
void solve_triangle(View<const T> t, std::size_t n, bool is_lower, bool is_unit, View<T> b,
                    std::size_t columns) {
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t step = 0; step < n; ++step) {
      const std::size_t i = is_lower ? step : n - 1 - step;
      T sum = b(i, j);
      const std::size_t begin = is_lower ? 0 : i + 1, end = is_lower ? i : n;
      for (std::size_t k = begin; k < end; ++k) sum -= t(i, k) * b(k, j);
      b(i, j) = is_unit ? sum : sum / t(i, i);
    }
  }
}

/// Solves A x = b, or with A^T, in place, by the factors and the exchanges of factor_lu().
template <class T>
void solve_lu(View<const T> lu, std::size_t n, const std::vector<int>& pivots, bool transposed,
              View<T> b, std::size_t columns) {
  const auto exchange = [&](std::size_t k) {
    const auto other = static_cast<std::size_t>(pivots[k]) - 1;
    for (std::size_t j = 0; other < n && j < columns; ++j) std::swap(b(k, j), b(other, j));
  };
  lu.transposed = transposed;
  // U^T is lower, L^T has the diagonal of ones.
  for (std::size_t k = 0; !transposed && k < pivots.size(); ++k) exchange(k);
  solve_triangle(lu, n, true, !transposed, b, columns);
  solve_triangle(lu, n, false, transposed, b, columns);
  for (std::size_t k = pivots.size(); transposed && k-- > 0;) exchange(k);
}

}  // namespace rung::emu::cusolver
