// gemm/cpu/masked_edges if A is streamed from memory and B has few columns
// (device/cpu/streamed_a.hpp), which requires an A larger than half of the last-level cache.

#include <gtest/gtest.h>

#include "backends/backend.hpp"
#include "core/case.hpp"
#include "core/dtype.hpp"
#include "core/verify.hpp"
#include "rungs_under_test.hpp"

namespace rung {
namespace {

// 34 MB of A: the minimum is half of L3, or 32 MB if L3 is larger.
constexpr std::int64_t length_of_k = 4099;

std::int64_t rows_of(Dtype dtype) { return dtype == Dtype::f32 ? 2087 : 1043; }

class StreamedA : public testing::TestWithParam<Dtype> {};

TEST_P(StreamedA, LeavesProductsRight) {
  const GemmSpec one_column = {.n = 1, .a_padding = 5};
  const GemmSpec edges = {.n = 17, .c_padding = 3, .alpha = -1, .beta = 2};
  const GemmSpec max_columns = {.n = 32, .b_padding = 1};
  for (GemmSpec spec : {one_column, edges, max_columns}) {
    spec.dtype = GetParam();
    spec.m = rows_of(spec.dtype);
    spec.k = length_of_k;
    GemmCase problem(spec);
    const Verdict verdict = verify(problem, [&](const GemmCall& call) {
      run(*find_backend("cpu"), *select({"gemm/cpu/masked_edges"}).front(), call, 1);
    });
    EXPECT_TRUE(verdict.right) << verdict.message;
  }
}

INSTANTIATE_TEST_SUITE_P(Rungs, StreamedA, testing::Values(Dtype::f32, Dtype::f64),
                         [](const auto& param) { return std::string(identifier(param.param)); });

}  // namespace
}  // namespace rung
