// Refused calls: a one-line message with the error, the value and the allowed values.

#include "rung/error.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "rung/dot.hpp"
#include "rung/gemm.hpp"

namespace rung {
namespace {

constexpr std::int64_t huge = std::int64_t{1} << 62;

template <class F>
std::string message(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Status::invalid_argument);
    return error.what();
  }
  return "no error";
}

struct GemmError : testing::Test {
  std::vector<float> memory = std::vector<float>(64, 7.0f);
  MatrixView<float> a = row_major(memory.data(), 2, 3);
  MatrixView<float> b = row_major(memory.data() + 16, 3, 4);
  MatrixView<float> c = row_major(memory.data() + 32, 2, 4);
  GemmOptions options;

  std::string refusal() const {
    return message([&] { gemm(a, b, c, options); });
  }
  ~GemmError() override { EXPECT_EQ(memory, std::vector<float>(64, 7.0f)) << "written to"; }
};

TEST_F(GemmError, NegativeSizes) {
  a.rows = -1;
  EXPECT_EQ(refusal(), "rung: gemm: A: rows is -1; it must be at least 0");
  a.rows = 2;
  b.cols = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(refusal(), "rung: gemm: B: columns is -9223372036854775808; it must be at least 0");
}

TEST_F(GemmError, NegativeThreads) {
  options.threads = -2;
  EXPECT_EQ(refusal(), "rung: gemm: threads is -2; it must be at least 0");
}

TEST_F(GemmError, SmallLeadingDimension) {
  b.ld = 3;
  EXPECT_EQ(refusal(),
            "rung: gemm: B: the leading dimension is 3; it must be at least 4, the columns "
            "(row-major)");
  b.ld = 4;
  c = col_major(c.data, 2, 4, 1);
  EXPECT_EQ(refusal(),
            "rung: gemm: C: the leading dimension is 1; it must be at least 2, the rows "
            "(column-major)");
}

TEST_F(GemmError, EachPairOfShapesMustMatch) {
  const std::string allowed = "; they must be m x k, k x n and m x n";
  b.rows = 2;
  EXPECT_EQ(refusal(), "rung: gemm: A is 2 x 3, B is 2 x 4, C is 2 x 4" + allowed);
  b.rows = 3;
  c.rows = 1;
  EXPECT_EQ(refusal(), "rung: gemm: A is 2 x 3, B is 3 x 4, C is 1 x 4" + allowed);
  c.rows = 2;
  c.cols = 3;
  EXPECT_EQ(refusal(), "rung: gemm: A is 2 x 3, B is 3 x 4, C is 2 x 3" + allowed);
}

TEST_F(GemmError, NullWithWorkToDo) {
  a.data = nullptr;
  EXPECT_EQ(refusal(), "rung: gemm: A is null; it must point to 2 x 3 elements");
  a = b = {};
  a.rows = 2;
  b.cols = b.ld = 4;
  c.data = nullptr;  // k is 0, but C must be cleared
  EXPECT_EQ(refusal(), "rung: gemm: C is null; it must point to 2 x 4 elements");
}

TEST_F(GemmError, BytesBeyondInt64) {
  a = row_major(a.data, huge, 1, 4);
  EXPECT_EQ(refusal(),
            "rung: gemm: A is 4611686018427387904 lines of 4 elements, of 4 bytes each: it must "
            "take at most 9223372036854775807 bytes");
  a = row_major(a.data, std::int64_t{1} << 61, 1, 1);  // 2^63 bytes
  EXPECT_NE(refusal().find("it must take at most"), std::string::npos);
}

TEST_F(GemmError, EachNumberOfASmallCall) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (MatrixView<float>* view : {&a, &b, &c}) {
    for (const auto member : {&MatrixView<float>::rows, &MatrixView<float>::cols}) {
      const std::int64_t right = view->*member;
      for (const std::int64_t wrong : {least, -right, right - 1, right + 1, huge, most}) {
        view->*member = wrong;
        EXPECT_NE(refusal(), "no error") << wrong;
      }
      view->*member = right;
    }
    const std::int64_t right = view->ld;
    for (const std::int64_t wrong : {least, -right, right - 1, most}) {
      view->ld = wrong;
      EXPECT_NE(refusal(), "no error") << wrong;
    }
    view->ld = right;
  }
}

TEST(DotError, Lengths) {
  const std::vector<float> x(3), y(4);
  EXPECT_EQ(message([&] { dot(x, y); }),
            "rung: dot: x has 3 elements, y has 4; they must have the same number");
}

TEST(DotError, NegativeLength) {
  const double x = 0;
  EXPECT_EQ(message([&] { dot(-1, &x, 1, &x, 1); }), "rung: dot: n is -1; it must be at least 0");
}

TEST(DotError, NullWithWorkToDo) {
  const float x[5] = {};
  const float* nothing = nullptr;
  EXPECT_EQ(message([&] { dot(5, x, 1, nothing, 1); }),
            "rung: dot: y is null; it must point to 5 elements");
}

TEST(DotError, BytesBeyondInt64) {
  const double x = 0;
  EXPECT_EQ(message([&] { dot(huge, &x, -3, &x, 1); }),
            "rung: dot: x is 4611686018427387904 elements at increment -3, of 8 bytes each: it "
            "must take at most 9223372036854775807 bytes");
}

TEST(DotError, Options) {
  const std::vector<float> x(3);
  EXPECT_EQ(message([&] { dot(x, x, {.threads = -1}); }),
            "rung: dot: threads is -1; it must be at least 0");
  EXPECT_EQ(message([&] { dot(x, x, {.mode = static_cast<DotMode>(4)}); }),
            "rung: dot: mode is 4; it must be 0 (fast), 1 (deterministic), 2 (compensated) or 3 "
            "(reproducible)");
}

}  // namespace
}  // namespace rung
