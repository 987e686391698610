// gemm/cpu/just_in_time with strips of B of three and four vectors, which need more rows and a
// longer k than the standard cases have.

#include <gtest/gtest.h>

#include <cstdlib>

#include "backends/backend.hpp"
#include "core/case.hpp"
#include "core/dtype.hpp"
#include "core/verify.hpp"
#include "rungs_under_test.hpp"

namespace rung {
namespace {

class JustInTime12 : public testing::TestWithParam<Dtype> {
 protected:
  void SetUp() override {
    if (std::getenv("RUNG_ISA") != nullptr)
      GTEST_SKIP() << "only this machine's set has wide strips";
  }

  void expect_right(GemmSpec spec) const {
    spec.dtype = GetParam();
    GemmCase problem(spec);
    for (const int threads : {1, 3}) {
      const Verdict verdict = verify(problem, [&](const GemmCall& call) {
        run(*find_backend("cpu"), *select({"gemm/cpu/just_in_time"}).front(), call, threads);
      });
      EXPECT_TRUE(verdict.right) << verdict.message << " on " << threads << " threads";
    }
  }
};

// Three to ten vectors of 16 elements, or five to nineteen of 8, complete or not: strips of three
// and four, and pairs at the end.
TEST_P(JustInTime12, EndsWithAnyColumns) {
  for (const std::int64_t n : {40, 48, 56, 64, 71, 88, 112, 145}) {
    expect_right({.m = 131, .n = n, .k = 520, .c_padding = n % 3, .alpha = 2, .beta = -1});
  }
}

TEST_P(JustInTime12, TakesOperandsOfAnyLayout) {
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      expect_right({.m = 131, .n = 100, .k = 1030, .a_transposed = a, .b_transposed = b});
    }
  }
}

TEST_P(JustInTime12, PacksAOnlyWhereItsColumnsAreFarApart) {
  expect_right({.m = 136, .n = 72, .k = 1024});  // rows map to the same L1 set
  expect_right({.m = 1024, .n = 49, .k = 513, .a_transposed = true});  // columns do
  // But many of them use the copies.
  expect_right({.m = 128, .n = 1537, .k = 130, .a_transposed = true});
}

TEST_P(JustInTime12, TakesSeveralGroupsOfStrips) {
  expect_right({.m = 129, .n = 1111, .k = 515, .alpha = -1, .beta = 3});
}

// With few registers for rows: two blocks of rows, each with two groups of strips and two splits of
// k.
TEST_P(JustInTime12, KeepsPanelsForTheNextRows) {
  expect_right({.m = 263, .n = 2070, .k = 259, .c_padding = 3, .alpha = 2, .beta = -1});
  expect_right({.m = 263, .n = 300, .k = 259, .a_transposed = true, .b_transposed = true});
}

INSTANTIATE_TEST_SUITE_P(Rungs, JustInTime12, testing::Values(Dtype::f32, Dtype::f64),
                         [](const auto& param) { return std::string(identifier(param.param)); });

}  // namespace
}  // namespace rung
