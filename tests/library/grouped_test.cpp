// rung::gemm_grouped on the CPU: correct for ragged groups of rows and of k; rejected arguments.

#include "rung/grouped.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace rung {
namespace {

using Floats = std::vector<float>;
using Offsets = std::vector<std::int32_t>;
constexpr float unread = std::numeric_limits<float>::quiet_NaN();

/// Six rows of 2 elements, the first and last of them outside every group, and three 2 x 2
/// matrices. The second group is empty.
class Grouped : public testing::Test {
 protected:
  Floats a_ = {unread, unread, 1, 2, 3, 4, 5, 6, 7, 8, unread, unread};
  Floats b_ = {1, 0, 0, 1, unread, unread, unread, unread, 2, 0, 1, 1};
  Floats c_ = Floats(12, -1.0f);
  Offsets offsets_ = {1, 3, 3, 5};

  void run(float alpha = 1, float beta = 0) {
    gemm_grouped(alpha, row_major<const float>(a_.data(), 6, 2),
                 strided(row_major<const float>(b_.data(), 2, 2), 3, 4), beta,
                 row_major(c_.data(), 6, 2), offsets_.data());
  }
  std::string refusal() {
    try {
      run();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Status::invalid_argument);
      EXPECT_EQ(c_, Floats(12, -1.0f));
      return error.what();
    }
    return "no error";
  }
};

TEST_F(Grouped, RowsOfEachGroupHaveItsMatrix) {
  run();
  EXPECT_EQ(c_, (Floats{-1, -1, 1, 2, 3, 4, 16, 6, 22, 8, -1, -1}));
}

TEST_F(Grouped, MatricesMayBeInEitherOrder) {
  const auto matrix = transposed(row_major<const float>(b_.data(), 2, 2));
  gemm_grouped(2.0f, row_major<const float>(a_.data(), 6, 2), strided(matrix, 3, 4), 1.0f,
               row_major(c_.data(), 6, 2), offsets_.data());
  EXPECT_EQ(c_, (Floats{-1, -1, 1, 3, 5, 7, 19, 21, 27, 29, -1, -1}));
}

TEST_F(Grouped, ScalesTheRowsOfGroupsAlone) {
  run(0, 3);
  EXPECT_EQ(c_, (Floats{-1, -1, -3, -3, -3, -3, -3, -3, -3, -3, -1, -1}));
}

TEST_F(Grouped, CutsK) {
  gemm_grouped(1.0f, transposed(row_major<const float>(a_.data(), 6, 2)),
               row_major<const float>(a_.data(), 6, 2), 2.0f,
               strided(row_major(c_.data(), 2, 2), 3, 4), offsets_.data());
  EXPECT_EQ(c_, (Floats{8, 12, 12, 18, -2, -2, -2, -2, 72, 84, 84, 98}));
}

TEST_F(Grouped, CutsKForAColumnMajorC) {
  Floats b = {0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0};
  gemm_grouped(1.0f, transposed(row_major<const float>(a_.data(), 6, 2)),
               row_major<const float>(b.data(), 6, 2), 0.0f,
               strided(col_major(c_.data(), 2, 2), 3, 4), offsets_.data());
  EXPECT_EQ(c_, (Floats{4, 6, 0, 0, 0, 0, 0, 0, 0, 0, 12, 14}));
}

/// The elements, converted to another type.
template <class T>
std::vector<T> as(const Floats& from) {
  return {from.begin(), from.end()};
}
template <class T>
Floats widened(const std::vector<T>& from) {
  Floats to;
  for (const T& x : from) to.push_back(static_cast<float>(x));
  return to;
}

TEST_F(Grouped, OfNarrowFloatsHasTheSameResults) {
  const auto check = [&]<class T>(T) {
    const auto a = as<T>(a_), b = as<T>(b_);
    c_.assign(12, -1.0f);
    gemm_grouped(1.0f, row_major<const T>(a.data(), 6, 2),
                 strided(row_major<const T>(b.data(), 2, 2), 3, 4), 0.0f,
                 row_major(c_.data(), 6, 2), offsets_.data());
    EXPECT_EQ(c_, (Floats{-1, -1, 1, 2, 3, 4, 16, 6, 22, 8, -1, -1}));
  };
  check(float8_e4m3{});
  check(float8_e5m2{});
}

TEST_F(Grouped, OfIntegersHasTheSameResults) {
  using Integers = std::vector<std::int32_t>;
  const auto check = [&]<class T>(T) {
    const std::vector<T> a = {9, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9},
                         b = {1, 0, 0, 1, 9, 9, 9, 9, 2, 0, 1, 1};
    Integers c(12, -1);
    gemm_grouped(1, row_major(a.data(), 6, 2), strided(row_major(b.data(), 2, 2), 3, 4), 0,
                 row_major(c.data(), 6, 2), offsets_.data());
    EXPECT_EQ(c, (Integers{-1, -1, 1, 2, 3, 4, 16, 6, 22, 8, -1, -1}));
    gemm_grouped(1, transposed(row_major(a.data(), 6, 2)), row_major(a.data(), 6, 2), 2,
                 strided(row_major(c.data(), 2, 2), 3, 4), offsets_.data());
    EXPECT_EQ(c, (Integers{8, 12, 16, 24, 6, 8, 32, 12, 118, 102, 84, 98}));
  };
  check(std::int32_t{});
  check(std::int8_t{});
}

TEST_F(Grouped, HasResultsOf16Bits) {
  const auto check = [&]<class T>(T) {
    const auto a = as<T>(a_), b = as<T>(b_);
    auto c = as<T>(Floats(12, -1.0f));
    gemm_grouped(2.0f, row_major<const T>(a.data(), 6, 2),
                 strided(transposed(row_major<const T>(b.data(), 2, 2)), 3, 4), 1.0f,
                 row_major(c.data(), 6, 2), offsets_.data());
    EXPECT_EQ(widened(c), (Floats{-1, -1, 1, 3, 5, 7, 19, 21, 27, 29, -1, -1}));
    gemm_grouped(1.0f, transposed(row_major<const T>(a.data(), 6, 2)),
                 row_major<const T>(a.data(), 6, 2), 0.0f, strided(row_major(c.data(), 2, 2), 3, 4),
                 offsets_.data());
    EXPECT_EQ(widened(c), (Floats{10, 14, 14, 20, 0, 0, 0, 0, 74, 86, 86, 100}));
  };
  check(bfloat16{});
  check(float16{});
}

TEST_F(Grouped, RefusesWrongOffsets) {
  offsets_ = {1, 3, 2, 5};
  EXPECT_EQ(refusal(),
            "rung: gemm_grouped: offset 2 is 2; it must be from 3, the one before, to 6");
  offsets_ = {1, 3, 3, 7};
  EXPECT_EQ(refusal(),
            "rung: gemm_grouped: offset 3 is 7; it must be from 3, the one before, to 6");
  offsets_ = {-1, 3, 3, 5};
  EXPECT_EQ(refusal(), "rung: gemm_grouped: offset 0 is -1; it must be from 0 to 6");
}

TEST_F(Grouped, RefusesShapesThatDoNotFit) {
  const auto b = strided(row_major<const float>(b_.data(), 3, 2), 2, 6);
  const auto of = [&](const auto& run) -> std::string {
    try {
      run();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  const auto a = row_major<const float>(a_.data(), 6, 2);
  EXPECT_EQ(
      of([&] { gemm_grouped(1.0f, a, b, 0.0f, row_major(c_.data(), 6, 2), offsets_.data()); }),
      "rung: gemm_grouped: A is 6 x 2, B is 3 x 2, C is 6 x 2; they must be tokens x k, k x n "
      "and tokens x n");
  const auto right = strided(row_major<const float>(b_.data(), 2, 2), 3, 4);
  EXPECT_EQ(of([&] { gemm_grouped(1.0f, a, right, 0.0f, row_major(c_.data(), 6, 2), nullptr); }),
            "rung: gemm_grouped: offsets is null; it must point to 4 offsets");
  EXPECT_EQ(
      of([&] { gemm_grouped(1.0f, a, right, 0.0f, col_major(c_.data(), 6, 2), offsets_.data()); }),
      "rung: gemm_grouped: C is column-major; it must be row-major");
}

}  // namespace
}  // namespace rung
