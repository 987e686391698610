#include "device/long_accumulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/exact_sum.hpp"
#include "core/random.hpp"

namespace rung {
namespace {

/// A LongAccumulator that owns its words.
template <class T>
class Sum {
 public:
  using Long = LongAccumulator<T>;

  Sum& add(double term) {
    Long::add_value(term, add_to_words());
    return *this;
  }
  Sum& add_product(double x, double y) {
    Long::add_product(x, y, add_to_words());
    return *this;
  }
  T rounded() const {
    std::vector<std::int64_t> words = words_;
    return Long::rounded(words.data());
  }
  const std::vector<std::int64_t>& words() const { return words_; }

 private:
  auto add_to_words() {
    return [this](int word, std::int64_t amount) { words_.at(word) += amount; };
  }

  std::vector<std::int64_t> words_ = std::vector<std::int64_t>(Long::words);
};

using FloatSum = Sum<float>;
using DoubleSum = Sum<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// `count` terms of both signs whose exponents spread over `spread` bits.
std::vector<double> terms(std::int64_t count, int spread, std::uint64_t seed) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto exponent = static_cast<int>(random_below(spread, seed + 1, i)) - spread / 2;
    values.push_back(std::ldexp(random_element<double>(Values::reals, seed, i), exponent));
  }
  return values;
}

template <class T>
void expect_nearest(T got, ExactSum exact) {
  exact.add(-static_cast<double>(got));
  const double error = exact.value();
  const T neighbour = std::nextafter(got, static_cast<T>(std::copysign(infinity, error)));
  const double gap = std::abs(static_cast<double>(neighbour) - static_cast<double>(got));
  EXPECT_LE(std::abs(error), gap / 2) << got;
}

template <class T>
void expect_rounded_once() {
  for (const int spread : {1, 10, 100, 400}) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      Sum<T> sum;
      ExactSum exact;
      const int bits = std::is_same_v<T, float> ? std::min(spread, 150) : spread;
      for (double term : terms(20, bits, seed)) {
        // An accumulator for floats holds products of floats, which have 48 bits.
        if (std::is_same_v<T, float>) term = static_cast<float>(term);
        sum.add(term);
        exact.add(term);
      }
      expect_nearest(sum.rounded(), exact);
    }
  }
}

TEST(LongAccumulator, RoundsToTheNearest) {
  expect_rounded_once<float>();
  expect_rounded_once<double>();
}

TEST(LongAccumulator, RoundsTiesToEven) {
  EXPECT_EQ(DoubleSum().add(1).add(0x1p-53).rounded(), 1);
  EXPECT_EQ(DoubleSum().add(1 + 0x1p-52).add(0x1p-53).rounded(), 1 + 0x1p-51);
  EXPECT_EQ(DoubleSum().add(1).add(0x1p-53).add(0x1p-1000).rounded(), 1 + 0x1p-52);
  EXPECT_EQ(DoubleSum().add(-1).add(-0x1p-53).add(0x1p-1000).rounded(), -1);
  EXPECT_EQ(DoubleSum().add(0x1.fffffffffffffp0).add(0x1p-53).rounded(), 2);
  EXPECT_EQ(FloatSum().add(1).add(0x1p-24).rounded(), 1.0f);
  EXPECT_EQ(FloatSum().add(1).add(0x1p-24).add(0x1p-290).rounded(), 1 + 0x1p-23f);
}

TEST(LongAccumulator, RoundsBelowTheNormalRange) {
  EXPECT_EQ(FloatSum().add(0x1p-149).rounded(), 0x1p-149f);
  EXPECT_EQ(FloatSum().add(0x1p-150).rounded(), 0);
  EXPECT_EQ(FloatSum().add(0x1p-150).add(0x1p-298).rounded(), 0x1p-149f);
  EXPECT_EQ(FloatSum().add(0x3p-150).rounded(), 0x1p-148f);
  EXPECT_EQ(FloatSum().add(0x1p-151).rounded(), 0);
  EXPECT_EQ(FloatSum().add(0x1.ffffffp-127).rounded(), 0x1p-126f);
  EXPECT_EQ(FloatSum().add(-0x1.8p-140).rounded(), -0x1.8p-140f);
  EXPECT_EQ(DoubleSum().add_product(0x1p-1074, 0.75).rounded(), 0x1p-1074);
  EXPECT_EQ(DoubleSum().add_product(0x1p-1074, 0x1p-1074).rounded(), 0);
  EXPECT_EQ(DoubleSum().add_product(0x1.8p-600, 0x1p-460).rounded(), 0x1.8p-1060);
}

TEST(LongAccumulator, OverflowsAsTheExactSumDoes) {
  constexpr double largest = std::numeric_limits<double>::max();
  EXPECT_EQ(DoubleSum().add(largest).add(0x1p969).rounded(), largest);
  EXPECT_EQ(DoubleSum().add(largest).add(0x1p970).rounded(), infinity);
  EXPECT_EQ(DoubleSum().add(-largest).add(-largest).rounded(), -infinity);
  EXPECT_EQ(DoubleSum().add(largest).add(largest).add(-largest).rounded(), largest);
  EXPECT_EQ(DoubleSum().add_product(largest, -largest).rounded(), -infinity);
  EXPECT_EQ(FloatSum().add(0x1p128).rounded(), std::numeric_limits<float>::infinity());
  EXPECT_EQ(FloatSum().add(0x1p255).add(1).add(-0x1p255).rounded(), 1);
}

TEST(LongAccumulator, ProductsAreExactOverTheWholeRange) {
  EXPECT_EQ(DoubleSum()
                .add_product(0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023)
                .add_product(0x1p-1074, -0x1p-1074)
                .add_product(-0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023)
                .add_product(0x1p-1074, 0x1p-1074)
                .add_product(3, 5)
                .rounded(),
            15);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    DoubleSum sum;
    ExactSum exact;
    const auto x = terms(20, 300, 2 * seed), y = terms(20, 300, 2 * seed + 1);
    for (std::size_t i = 0; i < x.size(); ++i) {
      sum.add_product(x[i], y[i]);
      exact.add_product(x[i], y[i]);
    }
    expect_nearest(sum.rounded(), exact);
  }
}

TEST(LongAccumulator, InfinityAndNanAreThoseOfIeee) {
  EXPECT_EQ(DoubleSum().add(infinity).add(1).rounded(), infinity);
  EXPECT_EQ(DoubleSum().add_product(infinity, -2).rounded(), -infinity);
  EXPECT_TRUE(std::isnan(DoubleSum().add_product(infinity, 0).rounded()));
  EXPECT_TRUE(std::isnan(DoubleSum().add_product(0, -infinity).rounded()));
  EXPECT_TRUE(std::isnan(DoubleSum().add(infinity).add(-infinity).rounded()));
  EXPECT_TRUE(std::isnan(FloatSum().add(nan).add(infinity).rounded()));
  // All NaNs become the same NaN.
  EXPECT_EQ(__builtin_bit_cast(std::uint32_t, FloatSum().add(-nan).rounded()), 0x7fc00000u);
  EXPECT_EQ(__builtin_bit_cast(std::uint64_t, DoubleSum().add(-nan).rounded()),
            0x7ff8000000000000u);
}

TEST(LongAccumulator, NothingIsPositiveZero) {
  EXPECT_FALSE(std::signbit(DoubleSum().rounded()));
  EXPECT_FALSE(std::signbit(FloatSum().add(-0.0).rounded()));
  EXPECT_FALSE(std::signbit(FloatSum().add(-3).add(3).rounded()));
}

TEST(LongAccumulator, WordsAddUpInAnyOrderAndCarriedOrNot) {
  std::vector<double> values = terms(1000, 400, 1);
  DoubleSum sum;
  for (const double value : values) sum.add(value);
  std::reverse(values.begin(), values.end());
  using Long = DoubleSum::Long;
  std::vector<std::int64_t> parts(Long::words);
  for (std::size_t part = 0; part < 10; ++part) {
    DoubleSum of_part;
    for (std::size_t i = part; i < values.size(); i += 10) of_part.add(values[i]);
    for (int i = 0; i < Long::words; ++i) {
      parts[i] += i < Long::digits ? Long::carried(of_part.words().data(), i) : of_part.words()[i];
    }
  }
  EXPECT_EQ(Long::rounded(parts.data()), sum.rounded());
}

TEST(LongAccumulator, HoldsManyTermsBeforeACarry) {
  FloatSum sum;
  constexpr float largest = std::numeric_limits<float>::max();
  for (int i = 0; i < 100'000; ++i) {
    sum.add(-static_cast<double>(largest) * largest).add(0x1p-298);
  }
  sum.add(0x1p-100);
  for (int i = 0; i < 100'000; ++i) {
    sum.add(static_cast<double>(largest) * largest).add(-0x1p-298);
  }
  EXPECT_EQ(sum.rounded(), 0x1p-100f);
}

}  // namespace
}  // namespace rung
