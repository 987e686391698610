// Verification of sums and of 32-bit integers: accepts correct results, rejects nearly correct
// ones.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>

#include "core/verify.hpp"

namespace rung {
namespace {

/// The sum term by term, plus `error`.
template <class In, class Out>
double sum_of(const DotCall& call, Out error) {
  const Dot<In> d = call.typed<In>();
  Out sum = error;
  for (std::int64_t i = 0; i < d.n; ++i) {
    sum += d.x[i * d.incx] * (d.y == nullptr ? In{1} : d.y[i * d.incy]);
  }
  return static_cast<double>(sum);
}

bool is_right(const DotSpec& spec, const std::function<double(const DotCall&)>& run) {
  DotCase problem(spec);
  return verify(problem, run).right;
}

TEST(VerifySum, OfRealsHasItsBound) {
  const DotSpec spec{.n = 1000, .incx = -2, .sum = true};
  EXPECT_TRUE(is_right(spec, [](const DotCall& c) { return sum_of<float>(c, 0.0f); }));
  EXPECT_FALSE(is_right(spec, [](const DotCall& c) { return sum_of<float>(c, 1.0f); }));
}

TEST(VerifySum, HasNoSecondVector) {
  const DotCall call = DotCase({.n = 5, .sum = true}).call();
  EXPECT_EQ(call.y, nullptr);
  EXPECT_EQ(call.y_storage.begin, nullptr);
}

TEST(VerifyDot, OfIntegersIsExactModuloTwoToTheThirtyTwo) {
  for (const bool sum : {false, true}) {
    const DotSpec spec{.dtype = Dtype::i32, .n = 1000, .incy = 3, .sum = sum};
    EXPECT_TRUE(is_right(spec, [](const DotCall& c) { return sum_of<std::uint32_t>(c, 0u); }));
    EXPECT_FALSE(is_right(spec, [](const DotCall& c) { return sum_of<std::uint32_t>(c, 1u); }));
  }
}

}  // namespace
}  // namespace rung
