// gemm/cpu/09_dot_products where it chooses other blocks: shapes that the standard cases lack.

#include <gtest/gtest.h>

#include "backends/backend.hpp"
#include "core/case.hpp"
#include "core/verify.hpp"
#include "rungs_under_test.hpp"

namespace rung {
namespace {

class DotProducts09 : public testing::TestWithParam<Dtype> {
 protected:
  static void expect_right(const GemmSpec& spec) {
    GemmCase problem(spec);
    for (const int threads : {1, 3}) {
      const Verdict verdict = verify(problem, [&](const GemmCall& call) {
        run(*find_backend("cpu"), *select({"gemm/cpu/09_dot_products"}).front(), call, threads);
      });
      EXPECT_TRUE(verdict.right) << verdict.message << " on " << threads << " threads";
    }
  }
};

// B of more than 2 MiB, an L2 cache: it is read in order, by each thread in columns of its own.
TEST_P(DotProducts09, StreamsBIfAHasFewRows) {
  for (const std::int64_t m : {1, 3, 5, 16}) {
    expect_right({.dtype = GetParam(), .m = m, .n = 1001, .k = 2303, .alpha = 2, .beta = -1});
  }
}

// A pass takes 8 or 16 rows of B, a step 32 or 64 columns.
TEST_P(DotProducts09, MultipliesFewRowsWithoutPacking) {
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

TEST_P(DotProducts09, ReadsAInPlaceOnlyIfThatIsFaster) {
  expect_right({.dtype = GetParam(), .m = 30, .n = 40, .k = 4096});   // rows share a set of L1
  expect_right({.dtype = GetParam(), .m = 30, .n = 72, .k = 4096});   // too wide for that
  expect_right({.dtype = GetParam(), .m = 30, .n = 800, .k = 64});    // wide
  expect_right({.dtype = GetParam(), .m = 30, .n = 700, .k = 2560});  // several blocks of k
}

INSTANTIATE_TEST_SUITE_P(Rungs, DotProducts09, testing::Values(Dtype::bf16, Dtype::i8),
                         [](const auto& param) { return std::string(identifier(param.param)); });

}  // namespace
}  // namespace rung
