// Element types: every 16-bit pattern there and back, and every rounding against long arithmetic.

#include "core/dtype.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "core/random.hpp"

namespace rung {
namespace {

/// significand_bits counts the stored ones; exponents below min_exponent are subnormal.
struct Format {
  int significand_bits;
  int min_exponent;
  double largest;
};
template <class T>
constexpr Format format{};
template <>
constexpr Format format<bfloat16> = {7, -126, 0x1.FEp127};
template <>
constexpr Format format<float16> = {10, -14, 65504};

/// Rounds to nearest, ties to even, from the definition of the format.
template <class T>
double rounded(float value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int exponent = std::max(std::ilogb(value), format<T>.min_exponent);
  const double unit = std::ldexp(1.0, exponent - format<T>.significand_bits);
  const double result = std::nearbyint(value / unit) * unit;
  if (std::abs(result) <= format<T>.largest) return result;
  return std::copysign(std::numeric_limits<double>::infinity(), result);
}

template <class T>
class SixteenBits : public testing::Test {
 protected:
  static T pattern(unsigned bits) {
    T value;
    value.bits = static_cast<std::uint16_t>(bits);
    return value;
  }

  static void expect_rounded(float value) {
    const auto got = static_cast<double>(static_cast<float>(T(value)));
    ASSERT_EQ(got, rounded<T>(value)) << value;
    ASSERT_EQ(std::signbit(got), std::signbit(value)) << value;
  }
};
using SixteenBitTypes = testing::Types<bfloat16, float16>;
TYPED_TEST_SUITE(SixteenBits, SixteenBitTypes);

TYPED_TEST(SixteenBits, EveryPatternSurvivesTheWayThroughFloat) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const TypeParam value = this->pattern(bits);
    const auto wide = static_cast<float>(value);
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(wide)))) << bits;
    } else {
      ASSERT_EQ(TypeParam(wide).bits, bits);
    }
  }
}

TYPED_TEST(SixteenBits, RoundsToNearestEven) {
  // Each value, the midpoint to its upper neighbour, and the floats next to that midpoint.
  for (unsigned bits = 0; bits < 0x7FFF; ++bits) {
    const auto low = static_cast<float>(this->pattern(bits));
    const auto high = static_cast<float>(this->pattern(bits + 1));
    if (!std::isfinite(low) || !std::isfinite(high)) continue;
    const float middle = low + (high - low) / 2;
    for (const float value :
         {low, middle, std::nextafter(middle, low), std::nextafter(middle, high)}) {
      this->expect_rounded(value);
      this->expect_rounded(-value);
    }
  }
}

TYPED_TEST(SixteenBits, RoundsRandomFloats) {
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random_bits(7, i)));
    if (!std::isnan(value)) this->expect_rounded(value);
  }
}

TYPED_TEST(SixteenBits, OverflowsToInfinityFromHalfAUnitAboveTheLargest) {
  const auto largest = static_cast<float>(format<TypeParam>.largest);
  const int exponent = std::ilogb(largest);
  const float half_unit = std::ldexp(0.5f, exponent - format<TypeParam>.significand_bits);
  const float first_infinite = largest + half_unit;
  EXPECT_EQ(static_cast<float>(TypeParam(std::nextafter(first_infinite, 0.0f))), largest);
  EXPECT_TRUE(std::isinf(static_cast<float>(TypeParam(first_infinite))));
  EXPECT_TRUE(std::isinf(static_cast<float>(TypeParam(std::numeric_limits<float>::infinity()))));
}

TEST(Dtype, NamesReadBack) {
  for (const Dtype dtype : all_dtypes) EXPECT_EQ(parse_dtype(name(dtype)), dtype);
  EXPECT_EQ(parse_dtype("f23"), std::nullopt);
  EXPECT_EQ(parse_dtype(""), std::nullopt);
}

TEST(Dtype, Sizes) {
  const std::map<Dtype, std::pair<std::size_t, std::size_t>> sizes = {{Dtype::f32, {4, 4}},
                                                                      {Dtype::f64, {8, 8}},
                                                                      {Dtype::i32, {4, 4}},
                                                                      {Dtype::bf16, {2, 4}},
                                                                      {Dtype::f16, {2, 4}}};
  for (const auto& [dtype, bytes] : sizes) {
    EXPECT_EQ(input_bytes(dtype), bytes.first);
    EXPECT_EQ(output_bytes(dtype), bytes.second);
  }
}

}  // namespace
}  // namespace rung
