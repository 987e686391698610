// gemm/cpu/narrow on several threads, which compute splits of k and add their sums.

#include <cstdint>
#include <utility>

#include <gtest/gtest.h>

#include "backends/backend.hpp"
#include "core/case.hpp"
#include "core/dtype.hpp"
#include "core/verify.hpp"
#include "device/cpu/narrow_loops.hpp"
#include "rungs_under_test.hpp"

namespace rung {
namespace {

class NarrowOnThreads : public testing::TestWithParam<Dtype> {};

TEST_P(NarrowOnThreads, LeavesProductsRight) {
  const GemmSpec row = {.m = 1, .n = 700, .k = 301, .b_padding = 3};
  const GemmSpec rows = {.m = 4, .n = 90, .k = 1000, .c_padding = 5, .alpha = -1, .beta = 2};
  const GemmSpec wide = {.m = 3, .n = 2101, .k = 700, .c_padding = 1, .alpha = 2, .beta = -1};
  const GemmSpec short_k = {.m = 2, .n = 900, .k = 127};
  for (GemmSpec spec : {row, rows, wide, short_k}) {
    spec.dtype = GetParam();
    for (const bool by_columns : {false, true}) {
      if (by_columns) {
        std::swap(spec.m, spec.n);
        spec.a_transposed = spec.b_transposed = true;
      }
      for (const int threads : {2, 7}) {
        GemmCase problem(spec);
        const Verdict verdict = verify(problem, [&](const GemmCall& call) {
          run(*find_backend("cpu"), *select({"gemm/cpu/narrow"}).front(), call, threads);
        });
        EXPECT_TRUE(verdict.right) << threads << " threads: " << verdict.message;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rungs, NarrowOnThreads, testing::Values(Dtype::f32, Dtype::f64),
                         [](const auto& param) { return std::string(identifier(param.param)); });

template <class In, class Acc>
void expect_few_sums() {
  for (const std::int64_t m : {1, 4}) {
    for (const int threads : {2, 16, 64}) {
      const Gemm<In, Acc> g = {m, 150'000, 4096, 1, {}, {}, 0, {}};
      const std::int64_t bytes = cpu::partial_elements(g, threads) * std::int64_t{sizeof(Acc)};
      EXPECT_LE(32 * bytes, g.n * g.k * std::int64_t{sizeof(In)}) << m << " on " << threads;
    }
  }
}

// Sums are written and read again, and their memory stays allocated for the thread.
TEST(PartsOfK, HaveFewSumsBesideB) {
  expect_few_sums<float, float>();
  expect_few_sums<std::int8_t, std::uint32_t>();
}

}  // namespace
}  // namespace rung
