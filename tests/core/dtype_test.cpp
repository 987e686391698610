// Element types: round trips of every bit pattern of the narrow types, and every rounding compared
// with long arithmetic.

#include "core/dtype.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "core/random.hpp"
#include "rung/types.hpp"

namespace rung {
namespace {

/// significand_bits counts the stored bits; exponents below min_exponent are subnormal.
struct Format {
  int significand_bits;
  int min_exponent;
  double largest;
  bool saturates = false;  // otherwise larger values become infinity
};
template <class T>
constexpr Format format{};
template <>
constexpr Format format<bfloat16> = {7, -126, 0x1.FEp127};
template <>
constexpr Format format<float16> = {10, -14, 65504};
template <>
constexpr Format format<float8_e4m3> = {3, -6, 448, true};
template <>
constexpr Format format<float8_e5m2> = {2, -14, 57344};

/// Rounds to nearest, ties to even, from the definition of the format.
template <class T>
double rounded(float value) {
  const double beyond =
      format<T>.saturates ? format<T>.largest : std::numeric_limits<double>::infinity();
  if (value == 0) return value;
  if (std::isinf(value)) return std::copysign(beyond, value);
  const int exponent = std::max(std::ilogb(value), format<T>.min_exponent);
  const double unit = std::ldexp(1.0, exponent - format<T>.significand_bits);
  const double result = std::nearbyint(value / unit) * unit;
  if (std::abs(result) <= format<T>.largest) return result;
  return std::copysign(beyond, result);
}

template <class T>
class NarrowTypes : public testing::Test {
 protected:
  static T pattern(unsigned bits) {
    T value;
    value.bits = static_cast<decltype(value.bits)>(bits);
    return value;
  }
  static constexpr unsigned patterns = 1u << (8 * sizeof(T));

  static void expect_rounded(float value) {
    const auto got = static_cast<double>(static_cast<float>(T(value)));
    ASSERT_EQ(got, rounded<T>(value)) << value;
    ASSERT_EQ(std::signbit(got), std::signbit(value)) << value;
  }
};
using AllNarrowTypes = testing::Types<bfloat16, float16, float8_e4m3, float8_e5m2>;
TYPED_TEST_SUITE(NarrowTypes, AllNarrowTypes);

TYPED_TEST(NarrowTypes, EveryPatternSurvivesTheWayThroughFloat) {
  for (unsigned bits = 0; bits < this->patterns; ++bits) {
    const TypeParam value = this->pattern(bits);
    const auto wide = static_cast<float>(value);
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(wide)))) << bits;
    } else {
      ASSERT_EQ(TypeParam(wide).bits, bits);
    }
  }
}

TYPED_TEST(NarrowTypes, RoundsToNearestEven) {
  // Each value, the midpoint to its upper neighbour, and the floats next to that midpoint.
  for (unsigned bits = 0; bits + 1 < this->patterns / 2; ++bits) {
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

TYPED_TEST(NarrowTypes, RoundsRandomFloats) {
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random_bits(7, i)));
    if (!std::isnan(value)) this->expect_rounded(value);
  }
}

TYPED_TEST(NarrowTypes, OverflowsFromHalfAUnitAboveTheLargest) {
  const auto beyond = [](float value) {
    const auto got = static_cast<float>(TypeParam(value));
    return format<TypeParam>.saturates ? got == format<TypeParam>.largest : std::isinf(got);
  };
  const auto largest = static_cast<float>(format<TypeParam>.largest);
  const int exponent = std::ilogb(largest);
  const float half_unit = std::ldexp(0.5f, exponent - format<TypeParam>.significand_bits);
  const float first_infinite = largest + half_unit;
  EXPECT_EQ(static_cast<float>(TypeParam(std::nextafter(first_infinite, 0.0f))), largest);
  EXPECT_TRUE(beyond(first_infinite));
  EXPECT_TRUE(beyond(std::numeric_limits<float>::infinity()));
}

TEST(Dtype, NamesReadBack) {
  for (const Dtype dtype : all_dtypes) EXPECT_EQ(parse_dtype(name(dtype)), dtype);
  EXPECT_EQ(parse_dtype("f23"), std::nullopt);
  EXPECT_EQ(parse_dtype(""), std::nullopt);
}

TEST(Dtype, ResultsThatAreNotRoundedAreOfTheSameInputs) {
  for (const Dtype dtype : all_dtypes) {
    const bool is_rounded = output_bytes(dtype) == 2;
    EXPECT_EQ(input_bytes(unrounded(dtype)), input_bytes(dtype)) << name(dtype);
    EXPECT_EQ(unrounded(dtype) != dtype, is_rounded) << name(dtype);
    EXPECT_EQ(output_bytes(unrounded(dtype)), is_rounded ? 4 : output_bytes(dtype)) << name(dtype);
  }
}

TEST(Dtype, Sizes) {
  const std::map<Dtype, std::pair<std::size_t, std::size_t>> sizes = {
      {Dtype::f32, {4, 4}},       {Dtype::f64, {8, 8}},    {Dtype::i32, {4, 4}},
      {Dtype::bf16, {2, 4}},      {Dtype::f16, {2, 4}},    {Dtype::tf32, {4, 4}},
      {Dtype::i8, {1, 4}},        {Dtype::e4m3, {1, 4}},   {Dtype::e5m2, {1, 4}},
      {Dtype::bf16_bf16, {2, 2}}, {Dtype::f16_f16, {2, 2}}};
  EXPECT_EQ(sizes.size(), all_dtypes.size());
  for (const auto& [dtype, bytes] : sizes) {
    EXPECT_EQ(input_bytes(dtype), bytes.first);
    EXPECT_EQ(output_bytes(dtype), bytes.second);
  }
}

}  // namespace
}  // namespace rung
