// Algebraic properties that hold for all matrices, checked with integers, for which they hold
// exactly.

#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "../cpu_dtypes.hpp"
#include "core/call.hpp"
#include "device/cpu/rung.hpp"
#include "rung/types.hpp"
#include "rungs_under_test.hpp"

namespace rung {
namespace {

/// A dense matrix of integers that every dtype represents exactly.
struct Dense {
  std::int64_t rows, cols;
  std::vector<int> elements;

  int& operator()(std::int64_t row, std::int64_t col) { return elements[row * cols + col]; }
  int operator()(std::int64_t row, std::int64_t col) const { return elements[row * cols + col]; }
  bool operator==(const Dense&) const = default;

  template <class F>
  static Dense from(std::int64_t rows, std::int64_t cols, const F& f) {
    Dense matrix{rows, cols, std::vector<int>(rows * cols)};
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t col = 0; col < cols; ++col) matrix(row, col) = f(row, col);
    }
    return matrix;
  }
};

Dense transpose(const Dense& x) {
  return Dense::from(x.cols, x.rows, [&](auto row, auto col) { return x(col, row); });
}

Dense add(const Dense& x, const Dense& y) {
  return Dense::from(x.rows, x.cols, [&](auto row, auto col) { return x(row, col) + y(row, col); });
}

Dense any_dense(std::int64_t rows, std::int64_t cols) {
  return {rows, cols,
          *rc::gen::container<std::vector<int>>(static_cast<std::size_t>(rows * cols),
                                                rc::gen::inRange(-8, 9))};
}

std::int64_t any_size() { return *rc::gen::inRange<std::int64_t>(1, 41); }

std::vector<std::int64_t> any_permutation(std::int64_t size) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t i = size - 1; i > 0; --i) {
    std::swap(order[i], order[*rc::gen::inRange<std::int64_t>(0, i + 1)]);
  }
  return order;
}

template <class T>
std::vector<T> converted(const std::vector<int>& elements) {
  std::vector<T> result;
  for (const int element : elements) {
    if constexpr (std::is_integral_v<T>) {
      result.push_back(static_cast<T>(element));
    } else {
      result.push_back(T(static_cast<float>(element)));
    }
  }
  return result;
}

class GemmProperties : public testing::TestWithParam<const RungInfo*> {
 protected:
  /// A B computed by the rung, in a type, layout and number of threads chosen by RapidCheck.
  Dense multiply(const Dense& a, const Dense& b) const {
    const Dtype dtype = *rc::gen::elementOf(cpu_dtypes);
    const bool a_transposed = *rc::gen::arbitrary<bool>();
    const bool b_transposed = *rc::gen::arbitrary<bool>();
    const int threads = *rc::gen::inRange(1, 4);
    Dense c{a.rows, b.cols, {}};
    visit(dtype, [&]<class In, class Out>(Elements<In, Out>) {
      if constexpr (!cpu::has_gemm<In, Out>)
        return;
      else {
        const auto a_data = converted<In>((a_transposed ? transpose(a) : a).elements);
        const auto b_data = converted<In>((b_transposed ? transpose(b) : b).elements);
        std::vector<Out> c_data(static_cast<std::size_t>(a.rows * b.cols));
        const auto strides = [](const Dense& x, bool transposed, const void* data) {
          return transposed ? AnyMatrix<const void*>{data, 1, x.rows}
                            : AnyMatrix<const void*>{data, x.cols, 1};
        };
        const GemmCall call = {dtype,
                               a.rows,
                               b.cols,
                               a.cols,
                               1,
                               strides(a, a_transposed, a_data.data()),
                               strides(b, b_transposed, b_data.data()),
                               0,
                               {c_data.data(), b.cols, 1}};
        run(*find_backend("cpu"), *GetParam(), call, threads);
        for (const Out element : c_data) {
          if constexpr (std::is_integral_v<Out>) {
            c.elements.push_back(static_cast<int>(element));
          } else {
            RC_ASSERT(element == std::trunc(element));
            c.elements.push_back(static_cast<int>(element));
          }
        }
      }
    });
    return c;
  }
};

TEST_P(GemmProperties, LinearInEachOperand) {
  EXPECT_TRUE(rc::check([this] {
    const std::int64_t m = any_size(), n = any_size(), k = any_size();
    const Dense a1 = any_dense(m, k), a2 = any_dense(m, k);
    const Dense b1 = any_dense(k, n), b2 = any_dense(k, n);
    RC_ASSERT(multiply(add(a1, a2), b1) == add(multiply(a1, b1), multiply(a2, b1)));
    RC_ASSERT(multiply(a1, add(b1, b2)) == add(multiply(a1, b1), multiply(a1, b2)));
  }));
}

TEST_P(GemmProperties, TransposeOfAProduct) {
  EXPECT_TRUE(rc::check([this] {
    const std::int64_t k = any_size();
    const Dense a = any_dense(any_size(), k);
    const Dense b = any_dense(k, any_size());
    RC_ASSERT(transpose(multiply(a, b)) == multiply(transpose(b), transpose(a)));
  }));
}

TEST_P(GemmProperties, IdentityOnEitherSide) {
  EXPECT_TRUE(rc::check([this] {
    const Dense a = any_dense(any_size(), any_size());
    const auto identity = [](std::int64_t size) {
      return Dense::from(size, size, [](auto row, auto col) { return row == col ? 1 : 0; });
    };
    RC_ASSERT(multiply(a, identity(a.cols)) == a);
    RC_ASSERT(multiply(identity(a.rows), a) == a);
  }));
}

TEST_P(GemmProperties, PermutationOfRowsColumnsAndTerms) {
  EXPECT_TRUE(rc::check([this] {
    const std::int64_t m = any_size(), n = any_size(), k = any_size();
    const Dense a = any_dense(m, k);
    const Dense b = any_dense(k, n);
    const auto rows = any_permutation(m), cols = any_permutation(n), terms = any_permutation(k);
    const Dense shuffled_a =
        Dense::from(m, k, [&](auto row, auto term) { return a(rows[row], terms[term]); });
    const Dense shuffled_b =
        Dense::from(k, n, [&](auto term, auto col) { return b(terms[term], cols[col]); });
    const Dense c = multiply(a, b);
    RC_ASSERT(multiply(shuffled_a, shuffled_b) ==
              Dense::from(m, n, [&](auto row, auto col) { return c(rows[row], cols[col]); }));
  }));
}

class DotProperties : public testing::TestWithParam<const RungInfo*> {
 protected:
  double dot(const std::vector<int>& x, const std::vector<int>& y) const {
    const Dtype dtype = *rc::gen::element(Dtype::f32, Dtype::f64, Dtype::bf16, Dtype::f16);
    const int threads = *rc::gen::inRange(1, 4);
    return visit(dtype, [&]<class In, class Out>(Elements<In, Out>) {
      const auto x_data = converted<In>(x);
      const auto y_data = converted<In>(y);
      const DotCall call = {
          dtype, static_cast<std::int64_t>(x.size()), x_data.data(), 1, y_data.data(), 1};
      return run(*find_backend("cpu"), *GetParam(), call, threads);
    });
  }

  static std::vector<int> any_vector(std::int64_t size) { return any_dense(1, size).elements; }
};

TEST_P(DotProperties, SymmetricAndLinear) {
  EXPECT_TRUE(rc::check([this] {
    const std::int64_t n = *rc::gen::inRange<std::int64_t>(0, 300);
    const auto x = any_vector(n), y = any_vector(n), z = any_vector(n);
    std::vector<int> sum(x.size());
    std::transform(y.begin(), y.end(), z.begin(), sum.begin(), std::plus<>());
    RC_ASSERT(dot(x, y) == dot(y, x));
    RC_ASSERT(dot(x, sum) == dot(x, y) + dot(x, z));
  }));
}

TEST_P(DotProperties, AnyOrderAndAnyCut) {
  EXPECT_TRUE(rc::check([this] {
    const std::int64_t n = *rc::gen::inRange<std::int64_t>(1, 300);
    const auto x = any_vector(n), y = any_vector(n);
    const auto order = any_permutation(n);
    std::vector<int> shuffled_x, shuffled_y;
    for (const std::int64_t i : order) {
      shuffled_x.push_back(x[i]);
      shuffled_y.push_back(y[i]);
    }
    const auto cut = *rc::gen::inRange<std::int64_t>(0, n + 1);
    const std::vector<int> x1(x.begin(), x.begin() + cut), x2(x.begin() + cut, x.end());
    const std::vector<int> y1(y.begin(), y.begin() + cut), y2(y.begin() + cut, y.end());
    RC_ASSERT(dot(shuffled_x, shuffled_y) == dot(x, y));
    RC_ASSERT(dot(x1, y1) + dot(x2, y2) == dot(x, y));
  }));
}

INSTANTIATE_TEST_SUITE_P(Cpu, GemmProperties, testing::ValuesIn(rungs_under_test("gemm")),
                         test_name_of_rung);
INSTANTIATE_TEST_SUITE_P(Cpu, DotProperties, testing::ValuesIn(rungs_under_test("dot")),
                         test_name_of_rung);

}  // namespace
}  // namespace rung
