// Guards detect every write around an operand, and invalid shapes are rejected with a message.

#include "core/operand.hpp"
#include "core/dtype.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/case.hpp"
#include "rung/types.hpp"

namespace rung {
namespace {

template <class E>
std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  return "no error";
}

TEST(Operand, StorageHoldsEveryElementAndGuard) {
  for (const std::int64_t padding : {0, 3, 1000}) {
    const Operand operand(Dtype::f64, 4, 5, 5 + padding, 1);
    const Storage storage = operand.storage();
    EXPECT_EQ(storage.rows, padding == 1000 ? 4 : 1);
    const auto* data = static_cast<const std::byte*>(operand.data());
    for (std::int64_t row = 0; row < 4; ++row) {
      const std::byte* begin = storage.begin + (storage.rows == 1 ? 0 : row * storage.pitch);
      const std::byte* first = data + row * (5 + padding) * 8;
      EXPECT_LE(begin, first);
      EXPECT_LE(first + 5 * 8, begin + storage.row_bytes);
    }
  }
}

TEST(Operand, StartsWhereAskedAndIsFilledReproducibly) {
  Operand operand(Dtype::f32, 3, 5, 8, 1);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(operand.data()) % 64, sizeof(float));
  operand.fill(Values::reals, 9);
  const auto* data = static_cast<const float*>(operand.data());
  EXPECT_EQ(data[2 * 8 + 4], random_element<float>(Values::reals, 9, 2 * 5 + 4));
  const std::uint64_t before = operand.fingerprint();
  operand.fill(Values::reals, 10);
  EXPECT_NE(operand.fingerprint(), before);
  operand.fill(Values::reals, 9);
  EXPECT_EQ(operand.fingerprint(), before);
}

// Several threads fill an operand in chunks that begin and end within rows.
TEST(Operand, OfManyChunksIsFilledReadAndPoisonedToTheLastElement) {
  constexpr std::int64_t rows = 3, cols = 700'001, ld = cols + 3;
  Operand operand(Dtype::bf16, rows, cols, ld, 0);
  operand.fill(Values::reals, 9);
  auto* const data = static_cast<bfloat16*>(operand.data());
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    ASSERT_EQ(static_cast<float>(data[i / cols * ld + i % cols]),
              static_cast<float>(random_element<bfloat16>(Values::reals, 9, i)))
        << i;
  }
  EXPECT_EQ(operand.broken_guard(), std::nullopt);
  const std::uint64_t before = operand.fingerprint();
  for (const std::int64_t at : {std::int64_t{0}, ld + 1, (rows - 1) * ld + cols - 1}) {
    const bfloat16 old = std::exchange(data[at], bfloat16(2.0f));
    EXPECT_NE(operand.fingerprint(), before) << at;
    data[at] = old;
  }
  EXPECT_EQ(operand.fingerprint(), before);
  operand.poison();
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    ASSERT_TRUE(std::isnan(static_cast<float>(data[i / cols * ld + i % cols]))) << i;
  }
}

TEST(Operand, NoticesAWriteNextToEveryElement) {
  for (const Dtype dtype : all_dtypes) {
    for (const std::int64_t at : {-1, 5, 7, 8 + 5, 16 + 5}) {
      Operand operand(dtype, 3, 5, 8, 0);
      operand.fill(Values::reals, 1);
      ASSERT_EQ(operand.broken_guard(), std::nullopt);
      static_cast<char*>(operand.data())[at * static_cast<int>(input_bytes(dtype))] ^= 1;
      EXPECT_NE(operand.broken_guard(), std::nullopt) << name(dtype) << " at " << at;
    }
  }
}

TEST(Operand, SaysWhereTheGuardIsBroken) {
  Operand operand(Dtype::f64, 3, 5, 8, 0);
  operand.fill(Values::reals, 1);
  ASSERT_EQ(operand.broken_guard(), std::nullopt);
  static_cast<double*>(operand.data())[8 + 6] = 0;
  EXPECT_EQ(operand.broken_guard(), "2 past the end of row 1");
}

TEST(Operand, NoticesAWriteToAnEmptyOperand) {
  Operand operand(Dtype::f32, 0, 5, 5, 0);
  operand.fill(Values::reals, 1);
  ASSERT_EQ(operand.broken_guard(), std::nullopt);
  static_cast<float*>(operand.data())[0] = 0;
  EXPECT_NE(operand.broken_guard(), std::nullopt);
}

TEST(Operand, PoisonIsNaN) {
  Operand operand(Dtype::f32, 2, 3, 3, 0);
  operand.poison();
  EXPECT_TRUE(std::isnan(static_cast<const float*>(operand.data())[5]));
}

TEST(Operand, HoldsOneNaNOrInfinity) {
  for (const Values values : {Values::nan, Values::infinity}) {
    Operand operand(Dtype::f64, 4, 5, 6, 0);
    operand.fill(values, 2);
    const auto* data = static_cast<const double*>(operand.data());
    int found = 0;
    for (int i = 0; i < 20; ++i) {
      const double value = data[i / 5 * 6 + i % 5];
      found += values == Values::nan ? std::isnan(value) : std::isinf(value);
    }
    EXPECT_EQ(found, 1);
  }
}

TEST(Operand, IntegersAreSmallAndTakeEveryValue) {
  Operand operand(Dtype::bf16, 1, 1000, 1000, 0);
  operand.fill(Values::integers, 2);
  std::set<float> seen;
  for (int i = 0; i < 1000; ++i) {
    seen.insert(static_cast<float>(static_cast<const bfloat16*>(operand.data())[i]));
  }
  EXPECT_EQ(seen, (std::set<float>{-4, -3, -2, -1, 0, 1, 2, 3, 4}));
}

TEST(Operand, RefusesBadShapes) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(error_of<std::invalid_argument>([] { Operand(Dtype::f32, -1, 2, 2, 0); }),
            "an operand of -1x2: sizes must be at least 0");
  EXPECT_EQ(error_of<std::invalid_argument>([] { Operand(Dtype::f32, 2, 3, 2, 0); }),
            "a leading dimension of 2 for rows of 3: it must be at least that");
  EXPECT_NE(error_of<std::length_error>([&] { Operand(Dtype::f32, 4, 1, most / 2, 0); }),
            "no error");
  EXPECT_NE(error_of<std::length_error>([&] { Operand(Dtype::f32, 1, 1, most / 2, 0); }),
            "no error");
}

TEST(Case, RefusesWhatADotProductCannotBe) {
  EXPECT_NE(error_of<std::invalid_argument>(
                [] { DotCase({.dtype = Dtype::i32, .n = 30, .condition = 1e6}); }),
            "no error");
  EXPECT_NE(
      error_of<std::invalid_argument>([] { DotCase({.n = 30, .sum = true, .condition = 1e6}); }),
      "no error");
  EXPECT_NE(error_of<std::invalid_argument>(
                [] { DotCase({.dtype = Dtype::f16, .n = 30, .condition = 1e6}); }),
            "no error");
  EXPECT_NE(error_of<std::invalid_argument>(
                [] { DotCase({.dtype = Dtype::f32, .n = 30, .incx = 2, .condition = 1e6}); }),
            "no error");
}

TEST(Case, DescribesWhatIsNotAtItsDefault) {
  EXPECT_EQ(describe(GemmSpec{.m = 7, .n = 5, .k = 3}), "f32 nn 7x5x3 alpha=1 beta=0");
  EXPECT_EQ(describe(GemmSpec{.dtype = Dtype::f64,
                              .m = 7,
                              .n = 5,
                              .k = 3,
                              .b_transposed = true,
                              .c_padding = 2,
                              .alpha = 0.5,
                              .values = Values::tiny,
                              .offset = 1}),
            "f64 nt 7x5x3 alpha=0.5 beta=0 ldc+2 offset 1 tiny");
  EXPECT_EQ(
      describe(DotSpec{.n = 9, .incy = -2, .accuracy = Accuracy::compensated, .condition = 1e9}),
      "f32 n=9 incy=-2 compensated condition 1e+09");
  EXPECT_EQ(describe(DotSpec{.n = 9, .incx = 3, .sum = true}), "sum f32 n=9 incx=3");
  EXPECT_EQ(describe(DotSpec{.n = 9, .values = Values::wide}), "f32 n=9 wide");
  EXPECT_EQ(describe(DotSpec{.n = 9, .values = Values::infinity}), "f32 n=9 infinity");
}

TEST(Case, NegativeIncrementsStartAtTheLastElement) {
  const DotCase problem({.n = 4, .incx = -3, .incy = -1});
  const DotCall call = problem.call();
  EXPECT_EQ(static_cast<const float*>(call.x) - static_cast<const float*>(problem.x().data()), 9);
  EXPECT_EQ(static_cast<const float*>(call.y) - static_cast<const float*>(problem.y().data()), 3);
}

}  // namespace
}  // namespace rung
