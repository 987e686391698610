// rung::gemm: verifies the kernels that the library selects, and tests the cases that the front end
// handles without a kernel.

#include "rung/gemm.hpp"
#include "core/dtype.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "../cpu_dtypes.hpp"
#include "core/standard_cases.hpp"
#include "core/verify.hpp"
#include "public_call.hpp"

namespace rung {
namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

class GemmOf : public testing::TestWithParam<std::tuple<Dtype, Form>> {};

TEST_P(GemmOf, PassesTheStandardCases) {
  const auto [dtype, form] = GetParam();
  for (const GemmSpec& spec : standard_gemm_cases(dtype, Effort::quick)) {
    GemmCase problem(spec);
    const Verdict verdict = verify(
        problem, [&](const GemmCall& call) { public_gemm(call, form, GemmOptions{.threads = 2}); });
    ASSERT_TRUE(verdict.right) << verdict.message;
  }
}

std::string dtype_and_form(const testing::TestParamInfo<GemmOf::ParamType>& instance) {
  const auto [dtype, form] = instance.param;
  return std::string(name(dtype)) + (form == Form::row_major_c ? "_row_major" : "_col_major");
}

INSTANTIATE_TEST_SUITE_P(Library, GemmOf,
                         testing::Combine(testing::ValuesIn(cpu_dtypes),
                                          testing::Values(Form::row_major_c, Form::col_major_c)),
                         dtype_and_form);

TEST(Gemm, MixesOrders) {
  const std::vector<double> a = {1, 2, 3, 4, 5, 6};  // 2 x 3, row-major
  const std::vector<double> b = {1, 3, 5, 2, 4, 6};  // 3 x 2, column-major
  std::vector<double> c(4);
  gemm(row_major(a.data(), 2, 3), col_major(b.data(), 3, 2), col_major(c.data(), 2, 2));
  EXPECT_EQ(c, (std::vector<double>{22, 49, 28, 64}));
}

TEST(Gemm, Int32WrapsInAlphaProductSumAndBeta) {
  constexpr std::int32_t big = std::numeric_limits<std::int32_t>::max();
  const std::vector<std::int32_t> a = {big, 2}, b = {2, big};
  std::vector<std::int32_t> c = {big};
  gemm(-3, row_major(a.data(), 1, 2), row_major(b.data(), 2, 1), 5, row_major(c.data(), 1, 1));
  // -3 * (4 * (2^31 - 1)) + 5 * (2^31 - 1) = -7 * 2^31 + 7, which is 2^31 + 7 modulo 2^32
  EXPECT_EQ(c[0], std::numeric_limits<std::int32_t>::min() + 7);
}

TEST(Gemm, AlphaZeroScalesCAndReadsNeitherAnorB) {
  std::vector<float> ab(6, not_a_number);
  std::vector<float> c = {1, 2, 3, 4};
  gemm(0.0f, row_major(ab.data(), 2, 3), row_major(ab.data(), 3, 2), 0.5f,
       row_major(c.data(), 2, 2));
  EXPECT_EQ(c, (std::vector<float>{0.5f, 1, 1.5f, 2}));

  const float* nothing = nullptr;
  gemm(0.0f, row_major(nothing, 2, 3), row_major(nothing, 3, 2), 2.0f, row_major(c.data(), 2, 2));
  EXPECT_EQ(c, (std::vector<float>{1, 2, 3, 4}));
}

TEST(Gemm, BetaZeroOverwritesNaNEvenIfNothingIsMultiplied) {
  std::vector<float> c(4, not_a_number);
  const float* nothing = nullptr;
  gemm(1.0f, row_major(nothing, 2, 0), row_major(nothing, 0, 2), 0.0f, row_major(c.data(), 2, 2));
  EXPECT_EQ(c, std::vector<float>(4, 0.0f));
}

TEST(Gemm, ScalingStaysWithinTheColumnsOfC) {
  std::vector<double> c = {1, 2, -1, 3, 4, -1};  // 2 x 2 with a leading dimension of 3
  const double* nothing = nullptr;
  gemm(1.0, row_major(nothing, 2, 0), row_major(nothing, 0, 2), 3.0, row_major(c.data(), 2, 2, 3));
  EXPECT_EQ(c, (std::vector<double>{3, 6, -1, 9, 12, -1}));
}

TEST(Gemm, BetaOneLeavesCAsItIsWhenNothingIsMultiplied) {
  std::vector<float> c = {not_a_number, -0.0f};
  const float* nothing = nullptr;
  gemm(1.0f, row_major(nothing, 1, 0), row_major(nothing, 0, 2), 1.0f, row_major(c.data(), 1, 2));
  EXPECT_TRUE(c[0] != c[0]);
  EXPECT_TRUE(std::signbit(c[1]));
}

TEST(Gemm, EmptyResultNeedsNoMemory) {
  float* nothing = nullptr;
  gemm(row_major(nothing, 0, 3), row_major(nothing, 3, 2), row_major(nothing, 0, 2));
  gemm(row_major(nothing, 2, 3), row_major(nothing, 3, 0), row_major(nothing, 2, 0, 5));
}

// Small products use kernels selected by separate rules, without cost models.
template <class T>
struct SmallProduct {
  static constexpr std::int64_t pad = 3;

  std::int64_t m, n, k;
  Order order_a, order_b;
  std::vector<T> a = integers(m * k + pad * std::max(m, k)),
                 b = integers(n * k + pad * std::max(n, k));

  static std::vector<T> integers(std::int64_t count) {
    std::vector<T> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i * 7 % 9) - 4;
    return values;
  }
  static MatrixView<const T> padded(const std::vector<T>& data, std::int64_t rows,
                                    std::int64_t cols, Order order) {
    return {data.data(), rows, cols, (order == Order::row_major ? cols : rows) + pad, order};
  }
  static T at(const MatrixView<const T>& view, std::int64_t i, std::int64_t j) {
    return view.data[view.order == Order::row_major ? i * view.ld + j : j * view.ld + i];
  }

  /// Rows of C are `pad` longer than n. The elements between them must not change.
  void check(T alpha, T beta) const {
    const auto a_view = padded(a, m, k, order_a), b_view = padded(b, k, n, order_b);
    const std::int64_t ldc = n + pad;
    const std::vector<T> before = integers(m * ldc);
    std::vector<T> expected = before, c = before;
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        T sum = 0;
        for (std::int64_t l = 0; l < k; ++l) sum += at(a_view, i, l) * at(b_view, l, j);
        T& element = expected[static_cast<std::size_t>(i * ldc + j)];
        element = alpha * sum + beta * element;
      }
    }
    gemm(alpha, a_view, b_view, beta, row_major(c.data(), m, n, ldc), {.threads = 1});
    ASSERT_EQ(c, expected) << m << " x " << n << " x " << k << ", A " << static_cast<int>(order_a)
                           << ", B " << static_cast<int>(order_b);
  }
};

template <class T>
void check_small_products() {
  constexpr Order orders[] = {Order::row_major, Order::col_major};
  for (const std::int64_t m : {1, 2, 3, 4, 7, 8, 14, 15, 24}) {
    for (const std::int64_t n : {1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 33, 63}) {
      for (const std::int64_t k : {1, 4, 5, 12, 13, 33, 70}) {
        for (const Order a : orders) {
          for (const Order b : orders) {
            SmallProduct<T>{m, n, k, a, b}.check(1, 0);
            SmallProduct<T>{m, n, k, a, b}.check(2, -1);
          }
        }
      }
    }
  }
}

TEST(Gemm, SmallProductsAreExact) {
  check_small_products<float>();
  check_small_products<double>();
}

TEST(Gemm, AnyNumberOfThreadsGivesExactSums) {
  GemmCase problem({.dtype = Dtype::f32, .m = 97, .n = 201, .k = 130, .values = Values::integers});
  for (const int threads : {0, 1, 2, 3, 64}) {
    const Verdict verdict = verify(problem, [&](const GemmCall& call) {
      public_gemm(call, Form::row_major_c, GemmOptions{.threads = threads});
    });
    EXPECT_TRUE(verdict.right) << threads << " threads: " << verdict.message;
  }
}

}  // namespace
}  // namespace rung
