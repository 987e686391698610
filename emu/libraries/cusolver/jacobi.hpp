#pragma once
// Eigenvalues of hermitian matrices and singular values by Jacobi's rotations, in double precision:
// Golub and Van Loan, "Matrix Computations", sections 8.5.2 and 8.6.3, with a phase for complex
// numbers.

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>
#include <vector>

namespace rung::emu::cusolver {

using Complex = std::complex<double>;

/// By columns, without gaps.
struct Square {
  std::size_t rows, cols;
  std::vector<Complex> values;

  Square(std::size_t rows_, std::size_t cols_) : rows(rows_), cols(cols_), values(rows_ * cols_) {}
  Complex& operator()(std::size_t i, std::size_t j) { return values[j * rows + i]; }
  const Complex& operator()(std::size_t i, std::size_t j) const { return values[j * rows + i]; }
};

/// Makes the off-diagonal element of the hermitian 2 x 2 matrix (p, off; conj(off), q) zero.
struct Rotation {
  double c, s;
  Complex phase;

  Rotation(double p, double q, const Complex& off) {
    const double size = std::abs(off), theta = (q - p) / (2 * size);
    const double t = std::copysign(1 / (std::abs(theta) + std::hypot(theta, 1)), theta);
    c = 1 / std::hypot(t, 1);
    s = c * t;
    phase = off / size;
  }
  void columns(Square& of, std::size_t p, std::size_t q) const {
    for (std::size_t i = 0; i < of.rows; ++i) {
      const Complex x = of(i, p), y = of(i, q) * std::conj(phase);
      of(i, p) = c * x - s * y;
      of(i, q) = s * x + c * y;
    }
  }
  void rows(Square& of, std::size_t p, std::size_t q) const {
    for (std::size_t j = 0; j < of.cols; ++j) {
      const Complex x = of(p, j), y = of(q, j) * phase;
      of(p, j) = c * x - s * y;
      of(q, j) = s * x + c * y;
    }
  }
};

inline Square identity(std::size_t n) {
  Square made(n, n);
  for (std::size_t i = 0; i < n; ++i) made(i, i) = 1;
  return made;
}

constexpr int max_sweeps = 60;

/// Columns of `of` in this order.
inline Square reordered(const Square& of, const std::vector<std::size_t>& order) {
  Square made(of.rows, order.size());
  for (std::size_t j = 0; j < order.size(); ++j) {
    for (std::size_t i = 0; i < of.rows; ++i) made(i, j) = of(i, order[j]);
  }
  return made;
}

/// The eigenvalues, ascending, and the eigenvectors as columns.
struct Eigen {
  std::vector<double> values;
  Square vectors;
};
inline Eigen eigen(Square a) {
  const std::size_t n = a.rows;
  Square vectors = identity(n);
  double all = 0;
  for (const Complex& value : a.values) all += std::norm(value);
  const double small = std::numeric_limits<double>::epsilon() * std::sqrt(all);
  for (int sweep = 0; sweep < max_sweeps; ++sweep) {
    bool is_diagonal = true;
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        if (!(std::abs(a(p, q)) > small / static_cast<double>(n))) continue;
        is_diagonal = false;
        const Rotation rotation(a(p, p).real(), a(q, q).real(), a(p, q));
        rotation.columns(a, p, q);
        rotation.rows(a, p, q);
        rotation.columns(vectors, p, q);
      }
    }
    if (is_diagonal) break;
  }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return a(i, i).real() < a(j, j).real(); });
  Eigen found{{}, reordered(vectors, order)};
  for (const std::size_t i : order) found.values.push_back(a(i, i).real());
  return found;
}

inline Complex product(const Square& of, std::size_t p, std::size_t q) {
  Complex sum = 0;
  for (std::size_t i = 0; i < of.rows; ++i) sum += std::conj(of(i, p)) * of(i, q);
  return sum;
}

/// Makes the columns from `first` on orthonormal to those before them, whatever they were.
inline void complete(Square& basis, std::size_t first) {
  std::size_t unit = 0;
  for (std::size_t j = first; j < basis.cols; ++j) {
    double length = 0;
    while (length < 0.5 / std::sqrt(static_cast<double>(basis.rows))) {
      for (std::size_t i = 0; i < basis.rows; ++i) basis(i, j) = i == unit ? 1 : 0;
      ++unit;
      for (int pass = 0; pass < 2; ++pass) {
        for (std::size_t k = 0; k < j; ++k) {
          const Complex along = product(basis, k, j);
          for (std::size_t i = 0; i < basis.rows; ++i) basis(i, j) -= along * basis(i, k);
        }
      }
      length = std::sqrt(product(basis, j, j).real());
    }
    for (std::size_t i = 0; i < basis.rows; ++i) basis(i, j) /= length;
  }
}

/// A = U diag(values) V^H of m x n with m >= n: values descending, all m columns of U.
struct Singular {
  std::vector<double> values;
  Square u, v;
};
inline Singular singular(Square a) {
  const std::size_t n = a.cols;
  Square v = identity(n);
  for (int sweep = 0; sweep < max_sweeps; ++sweep) {
    bool is_orthogonal = true;
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        const double x = product(a, p, p).real(), y = product(a, q, q).real();
        const Complex off = product(a, p, q);
        const double small = std::numeric_limits<double>::epsilon() * std::sqrt(x * y);
        if (!(std::abs(off) > small)) continue;
        is_orthogonal = false;
        const Rotation rotation(x, y, off);
        rotation.columns(a, p, q);
        rotation.columns(v, p, q);
      }
    }
    if (is_orthogonal) break;
  }
  std::vector<double> lengths(n);
  for (std::size_t j = 0; j < n; ++j) lengths[j] = std::sqrt(product(a, j, j).real());
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return lengths[i] > lengths[j]; });
  Singular found{{}, Square(a.rows, a.rows), reordered(v, order)};
  const double largest = n == 0 ? 0 : lengths[order.front()];
  std::size_t rank = 0;
  for (std::size_t j = 0; j < n; ++j) {
    const double length = lengths[order[j]];
    found.values.push_back(length);
    if (!(length > std::numeric_limits<double>::epsilon() * largest)) continue;
    for (std::size_t i = 0; i < a.rows; ++i) found.u(i, j) = a(i, order[j]) / length;
    rank = j + 1;
  }
  complete(found.u, rank);
  return found;
}

inline Square adjoint(const Square& of) {
  Square made(of.cols, of.rows);
  for (std::size_t j = 0; j < made.cols; ++j) {
    for (std::size_t i = 0; i < made.rows; ++i) made(i, j) = std::conj(of(j, i));
  }
  return made;
}

/// Singular values of a matrix of any shape.
inline Singular singular_values(const Square& a) {
  if (a.rows >= a.cols) return singular(a);
  Singular found = singular(adjoint(a));
  std::swap(found.u, found.v);
  return found;
}

}  // namespace rung::emu::cusolver
