// librung_blas with operands that end or start at inaccessible pages: random products and dot
// products of small integers, whose sums are exact, through each interface.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <type_traits>
#include <vector>

#include "guarded_memory.hpp"
#include "random_problems.hpp"

extern "C" {
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*,
            const double*, const int*, const double*, const int*, const double*, double*,
            const int*);
void dgemm_64_(const char*, const char*, const std::int64_t*, const std::int64_t*,
               const std::int64_t*, const double*, const double*, const std::int64_t*,
               const double*, const std::int64_t*, const double*, double*, const std::int64_t*);
void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*,
            const float*, const int*, const float*, const int*, const float*, float*, const int*);
void sgemm_64_(const char*, const char*, const std::int64_t*, const std::int64_t*,
               const std::int64_t*, const float*, const float*, const std::int64_t*, const float*,
               const std::int64_t*, const float*, float*, const std::int64_t*);
void cblas_sgemm(int, int, int, int, int, int, float, const float*, int, const float*, int, float,
                 float*, int);
void cblas_dgemm(int, int, int, int, int, int, double, const double*, int, const double*, int,
                 double, double*, int);
float sdot_(const int*, const float*, const int*, const float*, const int*);
double ddot_64_(const std::int64_t*, const double*, const std::int64_t*, const double*,
                const std::int64_t*);
float cblas_sdot_64(std::int64_t, const float*, std::int64_t, const float*, std::int64_t);
double cblas_ddot(int, const double*, int, const double*, int);
}

namespace rung {
namespace {

constexpr std::size_t operand_bytes = 1 << 20;

/// A column-major call. op(A) is m x k, op(B) is k x n.
struct Product {
  bool transpose_a, transpose_b;
  std::int64_t m, n, k;
  int alpha, beta;
  std::int64_t lda = 0, ldb = 0, ldc = 0;
};

Product random_product(Draws& draws) {
  Product p{.transpose_a = draws.one_in(2),
            .transpose_b = draws.one_in(2),
            .m = random_size(draws),
            .n = random_size(draws),
            .k = random_size(draws),
            .alpha = static_cast<int>(draws.between(-2, 2)),
            .beta = static_cast<int>(draws.between(-2, 2))};
  p.lda = (p.transpose_a ? p.k : p.m) + draws.below(3);
  p.ldb = (p.transpose_b ? p.n : p.k) + draws.below(3);
  p.ldc = p.m + draws.below(3);
  return p;
}

/// The number of elements from the first element of a matrix to its last, inclusive.
std::int64_t elements(std::int64_t rows, std::int64_t cols, std::int64_t ld) {
  return rows == 0 || cols == 0 ? 0 : (cols - 1) * ld + rows;
}

template <class T>
std::vector<T> random_integers(Draws& draws, std::int64_t count) {
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) value = static_cast<T>(draws.between(-3, 3));
  return values;
}

template <class T>
void call(std::int64_t way, const Product& p, const T* a, const T* b, T* c) {
  constexpr bool is_float = std::is_same_v<T, float>;
  constexpr int by_columns = 102, no_trans = 111, trans = 112;
  const char ta = p.transpose_a ? 'T' : 'N', tb = p.transpose_b ? 'C' : 'n';
  const T alpha = static_cast<T>(p.alpha), beta = static_cast<T>(p.beta);
  const int m = static_cast<int>(p.m), n = static_cast<int>(p.n), k = static_cast<int>(p.k);
  const int lda = static_cast<int>(p.lda), ldb = static_cast<int>(p.ldb);
  const int ldc = static_cast<int>(p.ldc);
  if (way == 0) {
    const auto gemm = [] {
      if constexpr (is_float)
        return sgemm_;
      else
        return dgemm_;
    }();
    return gemm(&ta, &tb, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);
  }
  if (way == 1) {
    const auto gemm = [] {
      if constexpr (is_float)
        return sgemm_64_;
      else
        return dgemm_64_;
    }();
    return gemm(&ta, &tb, &p.m, &p.n, &p.k, &alpha, a, &p.lda, b, &p.ldb, &beta, c, &p.ldc);
  }
  const auto gemm = [] {
    if constexpr (is_float)
      return cblas_sgemm;
    else
      return cblas_dgemm;
  }();
  gemm(by_columns, p.transpose_a ? trans : no_trans, p.transpose_b ? trans : no_trans, m, n, k,
       alpha, a, lda, b, ldb, beta, c, ldc);
}

/// The expected C. Elements between its columns, beyond row m, remain unchanged.
template <class T>
std::vector<T> expected(const Product& p, const std::vector<T>& a, const std::vector<T>& b,
                        std::vector<T> c) {
  for (std::int64_t j = 0; j < p.n; ++j) {
    for (std::int64_t i = 0; i < p.m; ++i) {
      T sum = 0;
      for (std::int64_t l = 0; l < p.k; ++l) {
        const auto at_a = static_cast<std::size_t>(p.transpose_a ? l + i * p.lda : i + l * p.lda);
        const auto at_b = static_cast<std::size_t>(p.transpose_b ? j + l * p.ldb : l + j * p.ldb);
        sum += a[at_a] * b[at_b];
      }
      T& result = c[static_cast<std::size_t>(i + j * p.ldc)];
      result = static_cast<T>(p.alpha) * sum + static_cast<T>(p.beta) * result;
    }
  }
  return c;
}

/// A fixture that places each operand of a call in memory of its own.
class BlasGuards : public testing::Test {
 protected:
  template <class T>
  T* place(GuardedMemory& memory, Draws& draws, const std::vector<T>& values) {
    return reinterpret_cast<T*>(
        memory.copy(values.data(), values.size() * sizeof(T), random_place(draws)));
  }

  template <class T>
  void multiply(Draws& draws) {
    const Product p = random_product(draws);
    const auto a = random_integers<T>(
        draws, p.transpose_a ? elements(p.k, p.m, p.lda) : elements(p.m, p.k, p.lda));
    const auto b = random_integers<T>(
        draws, p.transpose_b ? elements(p.n, p.k, p.ldb) : elements(p.k, p.n, p.ldb));
    const auto c = random_integers<T>(draws, elements(p.m, p.n, p.ldc));
    const T* const at_a = place(a_, draws, a);
    const T* const at_b = place(b_, draws, b);
    T* const at_c = place(c_, draws, c);
    const std::int64_t way = draws.below(3);
    call(way, p, at_a, at_b, at_c);
    ASSERT_EQ(std::vector<T>(at_c, at_c + c.size()), expected(p, a, b, c))
        << p.m << " x " << p.n << " x " << p.k << " by interface " << way;
    ASSERT_TRUE(c_.pattern_intact());
  }

  template <class T, class Dot>
  void dot(Draws& draws, const Dot& function) {
    const std::int64_t n = random_size(draws);
    const std::int64_t incx = draws.between(-3, 3), incy = draws.between(-3, 3);
    const auto length = [n](std::int64_t inc) { return n == 0 ? 0 : (n - 1) * std::abs(inc) + 1; };
    const auto x = random_integers<T>(draws, length(incx));
    const auto y = random_integers<T>(draws, length(incy));
    T sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t at_x = incx < 0 ? (i - n + 1) * incx : i * incx;
      const std::int64_t at_y = incy < 0 ? (i - n + 1) * incy : i * incy;
      sum += x[static_cast<std::size_t>(at_x)] * y[static_cast<std::size_t>(at_y)];
    }
    ASSERT_EQ(function(n, place(a_, draws, x), incx, place(b_, draws, y), incy), sum)
        << n << " elements, increments " << incx << ", " << incy;
  }

  GuardedMemory a_{operand_bytes}, b_{operand_bytes}, c_{operand_bytes};
};

TEST_F(BlasGuards, Products) {
  for (std::uint64_t i = 0; i < 1000; ++i) {
    Draws draws(3, i);
    multiply<float>(draws);
    multiply<double>(draws);
    if (HasFatalFailure()) return;
  }
}

TEST_F(BlasGuards, DotProducts) {
  const auto sdot_fortran = [](std::int64_t n, const float* x, std::int64_t incx, const float* y,
                               std::int64_t incy) {
    const int count = static_cast<int>(n), by_x = static_cast<int>(incx),
              by_y = static_cast<int>(incy);
    return sdot_(&count, x, &by_x, y, &by_y);
  };
  const auto ddot_fortran = [](std::int64_t n, const double* x, std::int64_t incx, const double* y,
                               std::int64_t incy) { return ddot_64_(&n, x, &incx, y, &incy); };
  const auto ddot_c = [](std::int64_t n, const double* x, std::int64_t incx, const double* y,
                         std::int64_t incy) {
    return cblas_ddot(static_cast<int>(n), x, static_cast<int>(incx), y, static_cast<int>(incy));
  };
  for (std::uint64_t i = 0; i < 1000; ++i) {
    Draws draws(4, i);
    dot<float>(draws, sdot_fortran);
    dot<float>(draws, cblas_sdot_64);
    dot<double>(draws, ddot_fortran);
    dot<double>(draws, ddot_c);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace rung
