// gemm/cpu/masked_edges with a short k (device/cpu/short_k.hpp): a few rows of C in one pass
// each, and strips of B over rows of a C that L3 does not hold; and copies of strips for a longer
// k.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "backends/backend.hpp"
#include "core/case.hpp"
#include "core/dtype.hpp"
#include "core/verify.hpp"
#include "rungs_under_test.hpp"

namespace rung {
namespace {

class ShortK : public testing::TestWithParam<Dtype> {
 protected:
  static void expect_right(GemmSpec spec) {
    spec.dtype = GetParam();
    GemmCase problem(spec);
    const Verdict verdict = verify(problem, [&](const GemmCall& call) {
      run(*find_backend("cpu"), *select({"gemm/cpu/masked_edges"}).front(), call, 1);
    });
    EXPECT_TRUE(verdict.right) << verdict.message;
  }
};

// From the minimum number of rows of a strip to one more than a pass handles; for values of k for
// which strips have one vector or more.
TEST_P(ShortK, FewRows) {
  for (const std::int64_t m : {3, 4, 7, 16, 17}) {
    for (const std::int64_t k : {1, 4, 5, 8, 9}) {
      expect_right({.m = m, .n = 45, .k = k, .b_padding = 3, .c_padding = 1});
      expect_right({.m = m, .n = 64, .k = k, .a_padding = 2, .alpha = -1, .beta = 2});
    }
  }
}

// 9 MB of C in f32, more than a quarter of an L3 of 32 MB; with a last block of one row.
TEST_P(ShortK, CFromMemory) {
  for (const std::int64_t k : {1, 2, 8}) {
    expect_right({.m = 1021, .n = 2311, .k = k, .c_padding = 5, .alpha = 2, .beta = -1});
  }
}

// With few registers, tiles read copies of strips of B: for a C beyond L2, with one, three and no
// splits of k; with vectors of B that cross cache lines; and with remaining rows and columns.
TEST_P(ShortK, CopiedStrips) {
  expect_right({.m = 301, .n = 600, .k = 40, .alpha = 2, .beta = -1});
  expect_right({.m = 301, .n = 600, .k = 0, .beta = 2});
  expect_right({.m = 256, .n = 650, .k = 400, .b_padding = 6, .c_padding = 3});
  expect_right({.m = 64, .n = 45, .k = 13, .beta = 1});
}

INSTANTIATE_TEST_SUITE_P(Rungs, ShortK, testing::Values(Dtype::f32, Dtype::f64),
                         [](const auto& param) { return std::string(identifier(param.param)); });

}  // namespace
}  // namespace rung
