#pragma once
// Operands that a test defines element by element, and their product by a rung on the virtual GPU.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/case.hpp"
#include "core/dtype_traits.hpp"
#include "core/rung.hpp"
#include "front_ends.hpp"

namespace rung {

template <class T>
struct Dense {
  std::int64_t rows, cols;
  std::vector<T> elements = std::vector<T>(static_cast<std::size_t>(rows * cols));

  T& operator()(std::int64_t row, std::int64_t col) {
    return elements[static_cast<std::size_t>(row * cols + col)];
  }
  T operator()(std::int64_t row, std::int64_t col) const {
    return elements[static_cast<std::size_t>(row * cols + col)];
  }
};

template <class T>
struct Factors {
  Dense<T> a, b;
};

/// `element`: called for A first, with a row of A or a column of B, and an index along k.
template <class T, class Element>
Factors<T> filled(std::int64_t m, std::int64_t n, std::int64_t k, const Element& element) {
  Factors<T> factors{{m, k}, {k, n}};
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t l = 0; l < k; ++l) factors.a(i, l) = element(i, l);
  }
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t l = 0; l < k; ++l) factors.b(l, j) = element(j, l);
  }
  return factors;
}

/// The product in the rung's compute mode. `transposed`: both operands are column-major.
template <class T>
Dense<T> product(const RungInfo& rung, const Factors<T>& factors, bool transposed = false) {
  const auto& [a, b] = factors;
  GemmCase problem({.dtype = dtype_of<T, T>(),
                    .m = a.rows,
                    .n = b.cols,
                    .k = a.cols,
                    .a_transposed = transposed,
                    .b_transposed = transposed,
                    .compute_mode = rung.compute_mode});
  const auto copy = [&](const Dense<T>& from, const Operand& to) {
    auto* const data = static_cast<T*>(to.data());
    for (std::int64_t row = 0; row < from.rows; ++row) {
      for (std::int64_t col = 0; col < from.cols; ++col) {
        data[transposed ? col * to.ld() + row : row * to.ld() + col] = from(row, col);
      }
    }
  };
  copy(a, problem.a());
  copy(b, problem.b());
  run(*backend_of("clang"), rung, problem.call(), 2);
  const Matrix<T> c = problem.call().c.template as<T>();
  Dense<T> result{a.rows, b.cols};
  for (std::int64_t row = 0; row < a.rows; ++row) {
    for (std::int64_t col = 0; col < b.cols; ++col) result(row, col) = c(row, col);
  }
  return result;
}

/// Computes each element by a chain of FMAs in T.
template <class T>
Dense<T> plain_product(const Factors<T>& factors) {
  const auto& [a, b] = factors;
  Dense<T> c{a.rows, b.cols};
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < b.cols; ++j) {
      T sum = 0;
      for (std::int64_t k = 0; k < a.cols; ++k) sum = std::fma(a(i, k), b(k, j), sum);
      c(i, j) = sum;
    }
  }
  return c;
}

/// Sets some elements of factors of 70 x 35 x 130 to infinities and NaN.
template <class T>
void put_infinities_and_nan(Factors<T>& factors) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  auto& [a, b] = factors;
  a(3, 7) = infinity;
  a(12, 100) = -infinity;
  a(20, 0) = infinity, a(20, 1) = -infinity;  // NaN, or infinite where the sign of B allows
  a(69, 129) = std::numeric_limits<T>::quiet_NaN();
  b(7, 4) = 0;  // infinity times 0
  b(30, 9) = -infinity;
  b(31, 34) = std::numeric_limits<T>::quiet_NaN();
}

/// Expects NaN and infinities where `expected` has them, and other elements within `tolerance`.
template <class T>
void expect_like(const Dense<T>& c, const Dense<T>& expected, double tolerance) {
  for (std::int64_t i = 0; i < c.rows; ++i) {
    for (std::int64_t j = 0; j < c.cols; ++j) {
      SCOPED_TRACE(testing::Message() << "C(" << i << ", " << j << ")");
      if (std::isnan(expected(i, j))) {
        EXPECT_TRUE(std::isnan(c(i, j))) << c(i, j);
      } else if (std::isinf(expected(i, j))) {
        EXPECT_EQ(c(i, j), expected(i, j));
      } else {
        EXPECT_NEAR(c(i, j), expected(i, j), tolerance);
      }
    }
  }
}

}  // namespace rung
