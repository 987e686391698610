// rung::dot: the library's selection, checked by the rules of verification; increments as in BLAS;
// and the promises of each mode.

#include "rung/dot.hpp"
#include "core/dtype.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "core/bound.hpp"
#include "core/ill_conditioned.hpp"
#include "core/standard_cases.hpp"
#include "core/verify.hpp"
#include "public_call.hpp"

namespace rung {
namespace {

constexpr Dtype dot_dtypes[] = {Dtype::f32, Dtype::f64, Dtype::bf16, Dtype::f16};
constexpr DotMode dot_modes[] = {DotMode::fast, DotMode::deterministic, DotMode::compensated,
                                 DotMode::reproducible};
constexpr std::string_view mode_names[] = {"fast", "deterministic", "compensated", "reproducible"};

class DotOf : public testing::TestWithParam<std::tuple<Dtype, DotMode>> {};

TEST_P(DotOf, PassesTheStandardCases) {
  const auto [dtype, mode] = GetParam();
  const DotOptions options{.threads = 2, .mode = mode};
  const Accuracy accuracy = mode == DotMode::compensated    ? Accuracy::compensated
                            : mode == DotMode::reproducible ? Accuracy::exact
                                                            : Accuracy::plain;
  for (const DotSpec& spec : standard_dot_cases(dtype, accuracy, Effort::quick)) {
    DotCase problem(spec);
    const Verdict verdict =
        verify(problem, [&](const DotCall& call) { return public_dot(call, options); });
    ASSERT_TRUE(verdict.right) << verdict.message;
  }
}

std::string dtype_and_mode(const testing::TestParamInfo<DotOf::ParamType>& instance) {
  const auto [dtype, mode] = instance.param;
  return std::string(name(dtype)).append("_").append(mode_names[static_cast<int>(mode)]);
}

INSTANTIATE_TEST_SUITE_P(Library, DotOf,
                         testing::Combine(testing::ValuesIn(dot_dtypes),
                                          testing::ValuesIn(dot_modes)),
                         dtype_and_mode);

TEST(Dot, IncrementsAreThoseOfBlas) {
  const std::vector<double> x = {1, 2, 3, 4, 5}, y = {1, 10, 100, 1000, 10000};
  EXPECT_EQ(dot(3, x.data(), 2, y.data(), 1), 531);
  EXPECT_EQ(dot(3, x.data(), -2, y.data(), 1), 135);
  EXPECT_EQ(dot(3, x.data(), -1, y.data(), -1), 321);
  EXPECT_EQ(dot(3, x.data() + 1, 0, y.data(), 1), 222);
  EXPECT_EQ(dot(3, x.data() + 1, 0, y.data() + 1, 0), 60);
  EXPECT_EQ(dot(1, x.data() + 4, -7, y.data(), 9), 5);
}

TEST(Dot, OfNothingIsZero) {
  const float* nothing = nullptr;
  EXPECT_EQ(dot(0, nothing, 1, nothing, 1), 0.0f);
  EXPECT_EQ(dot(0, nothing, -3, nothing, 0), 0.0f);
  EXPECT_EQ(dot(std::span<const float>{}, std::span<const float>{}), 0.0f);
  EXPECT_EQ(dot(std::span<const double>{}, {}, {.mode = DotMode::compensated}), 0.0);
}

TEST(Dot, SixteenBitInputsAreSummedInFloat) {
  // Beyond the range of f16.
  const std::vector<float16> x(4, float16(2048.0f)), y(4, float16(2048.0f));
  EXPECT_EQ(dot(x, y), 0x1p24f);
  const std::vector<bfloat16> u = {bfloat16(256.0f), bfloat16(1.0f)}, v(2, bfloat16(1.0f));
  EXPECT_EQ(dot(u, v), 257.0f);  // not a bfloat16
}

template <class T>
std::vector<T> random_vector(std::int64_t n, std::uint64_t seed) {
  std::vector<T> values(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) values[i] = random_element<T>(Values::reals, seed, i);
  return values;
}

template <class T>
void expect_same_bits_on_any_number_of_threads() {
  for (const std::int64_t n : {1'000, 100'003, 1'000'000}) {
    const auto x = random_vector<T>(n, 1), y = random_vector<T>(n, 2);
    for (const DotMode mode :
         {DotMode::deterministic, DotMode::compensated, DotMode::reproducible}) {
      const auto once = dot(x, y, {.threads = 1, .mode = mode});
      for (const int threads : {2, 3, 7}) {
        EXPECT_EQ(dot(x, y, {.threads = threads, .mode = mode}), once) << n << ", " << threads;
      }
    }
  }
}

TEST(Dot, BitsDoNotDependOnThreads) {
  expect_same_bits_on_any_number_of_threads<float>();
  expect_same_bits_on_any_number_of_threads<double>();
  expect_same_bits_on_any_number_of_threads<bfloat16>();
  expect_same_bits_on_any_number_of_threads<float16>();
}

constexpr DotOptions reproducible = {.mode = DotMode::reproducible};

/// Expects the bits of the exact sum, for x and y in any order and split anywhere.
template <class T>
void expect_exact_in_any_order(std::vector<T> x, std::vector<T> y) {
  ExactSum sum;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum.add_product(widen(x[i]), widen(y[i]));
  }
  const auto got = dot(x, y, reproducible);
  sum.add(-static_cast<double>(got));
  const double error = sum.value();
  const auto neighbour =
      std::nextafter(got, static_cast<decltype(got)>(std::copysign(HUGE_VAL, error)));
  EXPECT_LE(std::abs(error), std::abs(static_cast<double>(neighbour) - got) / 2) << got;

  for (std::size_t i = x.size(); i-- > 1;) {
    const auto j = static_cast<std::size_t>(random_below(static_cast<std::int64_t>(i) + 1, 5, i));
    std::swap(x[i], x[j]);
    std::swap(y[i], y[j]);
  }
  EXPECT_EQ(dot(x, y, reproducible), got);
  std::vector<T> apart(3 * x.size());  // with strides, and in reverse order
  for (std::size_t i = 0; i < x.size(); ++i) apart[3 * i] = x[x.size() - 1 - i];
  EXPECT_EQ(dot(static_cast<std::int64_t>(x.size()), apart.data(), -3, y.data(), 1, reproducible),
            got);
}

TEST(ReproducibleDot, IsExactInAnyOrder) {
  for (const std::int64_t n : {1, 2, 7, 63, 1000, 70'001}) {
    expect_exact_in_any_order(random_vector<float>(n, 1), random_vector<float>(n, 2));
    expect_exact_in_any_order(random_vector<double>(n, 3), random_vector<double>(n, 4));
    expect_exact_in_any_order(random_vector<bfloat16>(n, 5), random_vector<bfloat16>(n, 6));
    expect_exact_in_any_order(random_vector<float16>(n, 7), random_vector<float16>(n, 8));
  }
}

template <class T>
void expect_exact_where_ill_conditioned(std::initializer_list<double> conditions) {
  for (const double condition : conditions) {
    for (const std::int64_t n : {10, 1000}) {
      std::vector<T> x(n), y(n);
      make_ill_conditioned<T>(x, y, condition, 9);
      expect_exact_in_any_order(x, y);
    }
  }
}

TEST(ReproducibleDot, IsExactWhereIllConditioned) {
  expect_exact_where_ill_conditioned<float>({1e6, 1e16});
  expect_exact_where_ill_conditioned<double>({1e16, 1e50, 1e150});
}

/// Elements whose exponents cover the whole range of the type.
template <class T>
std::vector<T> wide_vector(std::int64_t n, int lowest, int highest, std::uint64_t seed) {
  auto values = random_vector<T>(n, seed);
  for (std::int64_t i = 0; i < n; ++i) {
    const auto spread = lowest + random_below(highest - lowest, seed + 100, i);
    values[i] = std::ldexp(values[i], static_cast<int>(spread));
  }
  return values;
}

TEST(ReproducibleDot, IsExactWhateverTheExponents) {
  expect_exact_in_any_order(wide_vector<float>(5000, -100, 60, 1),
                            wide_vector<float>(5000, -100, 60, 2));
  expect_exact_in_any_order(wide_vector<double>(5000, -400, 500, 3),
                            wide_vector<double>(5000, -400, 500, 4));
}

TEST(ReproducibleDot, NeitherOverflowsNorUnderflowsOnTheWay) {
  constexpr double large = 0x1p1000, small = 0x1p-600;
  const std::vector<double> x = {large, small, 3, -large, 0}, y = {large, small, 5, large, large};
  EXPECT_EQ(dot(x, y, reproducible), 15);
  const std::vector<double> u = {small, 0x1p-1074, 0x1p-1000}, v = {0x1p-400, 0.5, 0x1p-74};
  EXPECT_EQ(dot(u, v, reproducible), 0x1p-1000 + 0x1p-1073);
  const std::vector<float> s = {0x1p-149f, 0x1p-149f, 0x1p-100f}, t = {0.5f, 0.25f, 0x1p-51f};
  EXPECT_EQ(dot(s, t, reproducible), 0x1p-149f);
  const std::vector<float> many(100, 0x1p127f), ones(100, 1);
  EXPECT_EQ(dot(many, ones, reproducible), HUGE_VALF);
}

template <class T>
void expect_ieee_infinities() {
  using Result = decltype(dot(std::vector<T>(), std::vector<T>()));
  constexpr Result infinity = std::numeric_limits<Result>::infinity();
  const auto with = [](auto... specials) {
    auto x = random_vector<T>(1000, 1);
    std::size_t place = 123;
    for (const Result special : {specials...}) x[place += 77] = T(special);
    const std::vector<T> y(x.size(), T(1.0f));
    return dot(x, y, reproducible);
  };
  EXPECT_EQ(with(infinity), infinity);
  EXPECT_EQ(with(-infinity, -infinity), -infinity);
  EXPECT_TRUE(std::isnan(with(infinity, -infinity)));
  EXPECT_TRUE(std::isnan(with(infinity, std::numeric_limits<Result>::quiet_NaN())));
  // NaN has only one sign.
  EXPECT_FALSE(std::signbit(with(-std::numeric_limits<Result>::quiet_NaN())));
}

TEST(ReproducibleDot, InfinityAndNanAreThoseOfIeee) {
  expect_ieee_infinities<float>();
  expect_ieee_infinities<double>();
  expect_ieee_infinities<bfloat16>();
  expect_ieee_infinities<float16>();
}

TEST(Dot, AccurateModesFindWhatFastLoses) {
  const std::vector<float> x = {0x1p60f, 1, -0x1p60f}, y = {1, 1, 1};
  EXPECT_EQ(dot(x, y, {.mode = DotMode::reproducible}), 1.0f);
  EXPECT_EQ(dot(x, y, {.mode = DotMode::compensated}), 1.0f);
}

}  // namespace
}  // namespace rung
