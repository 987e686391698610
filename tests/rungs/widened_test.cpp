// gemm/cpu/widened with several parts: shapes that the standard cases lack.

#include <gtest/gtest.h>

#include "backends/backend.hpp"
#include "core/case.hpp"
#include "core/verify.hpp"
#include "rungs_under_test.hpp"

namespace rung {
namespace {

class Widened14 : public testing::TestWithParam<Dtype> {};

// Several parts of k, with a shorter last one; of columns; of rows.
TEST_P(Widened14, MultipliesPartByPart) {
  constexpr std::int64_t shapes[][3] = {{7, 9, 300'001}, {5, 8195, 1031}, {8195, 6, 21}};
  for (const auto& [m, n, k] : shapes) {
    for (const int layout : {0, 1, 2, 3}) {
      GemmCase problem({.dtype = GetParam(),
                        .m = m,
                        .n = n,
                        .k = k,
                        .a_transposed = (layout & 1) != 0,
                        .b_transposed = (layout & 2) != 0,
                        .c_padding = 3,
                        .alpha = 2,
                        .beta = -1});
      for (const int threads : {1, 3}) {
        const Verdict verdict = verify(problem, [&](const GemmCall& call) {
          run(*find_backend("cpu"), *select({"gemm/cpu/widened"}).front(), call, threads);
        });
        EXPECT_TRUE(verdict.right) << verdict.message << " on " << threads << " threads";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, Widened14, testing::Values(Dtype::bf16, Dtype::f16));

}  // namespace
}  // namespace rung
