// rung::dot: the library's own choice held to the rules of verification, increments as in BLAS, and
// the compensated mode.

#include "rung/dot.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "core/standard_cases.hpp"
#include "core/verify.hpp"
#include "public_call.hpp"

namespace rung {
namespace {

constexpr Dtype dot_dtypes[] = {Dtype::f32, Dtype::f64, Dtype::bf16, Dtype::f16};

class DotOf : public testing::TestWithParam<std::tuple<Dtype, DotMode>> {};

TEST_P(DotOf, PassesTheStandardCases) {
  const auto [dtype, mode] = GetParam();
  const DotOptions options{.threads = 2, .mode = mode};
  const bool compensated = mode == DotMode::compensated;
  for (const DotSpec& spec : standard_dot_cases(dtype, compensated, Effort::quick)) {
    DotCase problem(spec);
    const Verdict verdict =
        verify(problem, [&](const DotCall& call) { return public_dot(call, options); });
    ASSERT_TRUE(verdict.right) << verdict.message;
  }
}

std::string dtype_and_mode(const testing::TestParamInfo<DotOf::ParamType>& instance) {
  const auto [dtype, mode] = instance.param;
  return std::string(name(dtype)) + (mode == DotMode::fast ? "_fast" : "_compensated");
}

INSTANTIATE_TEST_SUITE_P(Library, DotOf,
                         testing::Combine(testing::ValuesIn(dot_dtypes),
                                          testing::Values(DotMode::fast, DotMode::compensated)),
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
  const std::vector<float16> x(4, float16(2048.0f)), y(4, float16(2048.0f));  // past f16's range
  EXPECT_EQ(dot(x, y), 0x1p24f);
  const std::vector<bfloat16> u = {bfloat16(256.0f), bfloat16(1.0f)}, v(2, bfloat16(1.0f));
  EXPECT_EQ(dot(u, v), 257.0f);  // no bfloat16
}

template <class T>
void expect_same_bits_on_any_number_of_threads() {
  for (const std::int64_t n : {1'000, 100'003, 1'000'000}) {
    std::vector<T> x(static_cast<std::size_t>(n)), y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto index = static_cast<std::int64_t>(i);
      x[i] = random_element<T>(Values::reals, 1, index);
      y[i] = random_element<T>(Values::reals, 2, index);
    }
    const DotMode mode = DotMode::compensated;
    const auto once = dot(x, y, {.threads = 1, .mode = mode});
    for (const int threads : {2, 3, 7}) {
      EXPECT_EQ(dot(x, y, {.threads = threads, .mode = mode}), once) << n << ", " << threads;
    }
  }
}

TEST(Dot, CompensatedBitsDoNotDependOnThreads) {
  expect_same_bits_on_any_number_of_threads<float>();
  expect_same_bits_on_any_number_of_threads<double>();
  expect_same_bits_on_any_number_of_threads<bfloat16>();
  expect_same_bits_on_any_number_of_threads<float16>();
}

TEST(Dot, CompensatedFindsWhatFastLoses) {
  const std::vector<float> x = {0x1p60f, 1, -0x1p60f}, y = {1, 1, 1};
  EXPECT_EQ(dot(x, y, {.mode = DotMode::compensated}), 1.0f);
}

}  // namespace
}  // namespace rung
