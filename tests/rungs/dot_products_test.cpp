// gemm/cpu/dot_products with shapes that use other blocks than the standard cases.

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "backends/backend.hpp"
#include "core/case.hpp"
#include "core/dtype.hpp"
#include "core/verify.hpp"
#include "rungs_under_test.hpp"

namespace rung {
namespace {

class DotProducts : public testing::TestWithParam<Dtype> {
 protected:
  static void expect_right(const GemmSpec& spec) {
    GemmCase problem(spec);
    for (const int threads : {1, 3}) {
      const Verdict verdict = verify(problem, [&](const GemmCall& call) {
        run(*find_backend("cpu"), *select({"gemm/cpu/dot_products"}).front(), call, threads);
      });
      EXPECT_TRUE(verdict.right) << verdict.message << " on " << threads << " threads";
    }
  }
};

// B of more than 2 MiB, an L2 cache: it is read in order, by each thread in columns of its own.
TEST_P(DotProducts, StreamsBIfAHasFewRows) {
  for (const std::int64_t m : {1, 3, 5, 16}) {
    expect_right({.dtype = GetParam(), .m = m, .n = 1001, .k = 2303, .alpha = 2, .beta = -1});
  }
}

// A pass takes 8 or 16 rows of B, a step 32 or 64 columns.
TEST_P(DotProducts, MultipliesFewRowsWithoutPacking) {
  for (const std::int64_t m : {1, 2, 3, 4}) {
    for (const std::int64_t n : {1, 100}) {
      for (const std::int64_t k : {1, 3, 8, 17}) {
        expect_right({.dtype = GetParam(), .m = m, .n = n, .k = k});
      }
    }
    expect_right({.dtype = GetParam(), .m = m, .n = 5000, .k = 21, .alpha = 3, .beta = -2});
    expect_right({.dtype = GetParam(), .m = m, .n = 70, .k = 21, .a_transposed = true});
  }
}

// At most four columns or rows of C, with every layout. The large operand is read in place: dot
// products of eight or four rows with a remainder, several splits of k, and sums of rows.
TEST_P(DotProducts, MultipliesFewColumnsAndRowsInEveryLayout) {
  for (const int layout : {0, 1, 2, 3}) {
    for (const std::int64_t n : {1, 2, 3, 4}) {
      for (const std::int64_t k : {1, 31, 200}) {
        GemmSpec spec = {.dtype = GetParam(),
                         .m = 23,
                         .n = n,
                         .k = k,
                         .a_transposed = (layout & 1) != 0,
                         .b_transposed = (layout & 2) != 0,
                         .a_padding = 3,
                         .b_padding = 1,
                         .c_padding = 2};
        expect_right(spec);
        std::swap(spec.m, spec.n);
        spec.alpha = 3;
        spec.beta = -2;
        expect_right(spec);
      }
    }
  }
  expect_right({.dtype = GetParam(), .m = 9, .n = 1, .k = 70000, .alpha = 2, .beta = 1});
  expect_right({.dtype = GetParam(), .m = 5, .n = 3, .k = 5000, .alpha = 2, .beta = 1});
  expect_right({.dtype = GetParam(), .m = 700, .n = 2, .k = 3000});  // shared by threads
  // Splits of k, whose sums are added in a transposed copy of C, and in C itself.
  GemmSpec by_columns = {.dtype = GetParam(),
                         .m = 2100,
                         .n = 3,
                         .k = 1300,
                         .a_transposed = true,
                         .c_padding = 1,
                         .alpha = 2,
                         .beta = -1};
  expect_right(by_columns);
  by_columns.n = 1;
  by_columns.c_padding = 0;
  expect_right(by_columns);
}

// Each element of A is -128: unsigned bytes that stand for signed ones wrap around most there.
TEST(DotProductsOfBytes, KeepsSignsOfTheLeastNumber) {
  constexpr std::int64_t m = 9, k = 131;
  const std::vector<std::int8_t> a(m * k, -128);
  std::vector<std::int8_t> b(k);
  std::uint32_t expected = 0;
  for (std::int64_t i = 0; i < k; ++i) {
    b[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(i % 256 - 128);
    expected += static_cast<std::uint32_t>(-128 * b[static_cast<std::size_t>(i)]);
  }
  std::vector<std::uint32_t> c(m);
  const GemmCall call = {Dtype::i8,       m, 1, k, 1, {a.data(), k, 1}, {b.data(), 1, 1}, 0,
                         {c.data(), 1, 1}};
  run(*find_backend("cpu"), *select({"gemm/cpu/dot_products"}).front(), call, 1);
  EXPECT_EQ(c, std::vector<std::uint32_t>(m, expected));
}

TEST_P(DotProducts, ReadsAInPlaceOnlyIfThatIsFaster) {
  expect_right({.dtype = GetParam(), .m = 30, .n = 40, .k = 4096});   // rows share a set of L1
  expect_right({.dtype = GetParam(), .m = 30, .n = 72, .k = 4096});   // too wide for that
  expect_right({.dtype = GetParam(), .m = 30, .n = 800, .k = 64});    // wide
  expect_right({.dtype = GetParam(), .m = 30, .n = 700, .k = 2560});  // several blocks of k
}

INSTANTIATE_TEST_SUITE_P(Rungs, DotProducts, testing::Values(Dtype::bf16, Dtype::f16, Dtype::i8),
                         [](const auto& param) { return std::string(identifier(param.param)); });

}  // namespace
}  // namespace rung
