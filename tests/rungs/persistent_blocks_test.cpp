// Persistent blocks process several tiles. On a GPU with two SMs, which needs its own program, five
// tiles are enough for some block to take a third one.

#include <gtest/gtest.h>

#include "backends/cuda/cuda.hpp"
#include "backends/rungs/cuda.hpp"
#include "core/case.hpp"
#include "core/quantize.hpp"
#include "core/rung.hpp"
#include "core/verify.hpp"
#include "rungs_under_test.hpp"

namespace rung {
namespace {

Dtype dtype_of(const cuda::GemmRung& rung) {
  for (Dtype dtype : {Dtype::bf16, Dtype::bf16_bf16, Dtype::f32, Dtype::f64}) {
    if (cuda::has(rung, dtype)) return dtype;
  }
  return Dtype::e4m3;
}

TEST(PersistentBlocks, TakeTileAfterTile) {
  constexpr int max_rows = 256;  // of a tile, or of the tiles of a pair of blocks
  const auto backend =
      make_virtual_backend({.gpu = test_gpu() + ",multiprocessors=2", .code = "clang"});
  int checked = 0;
  for (const RungInfo* info : rungs_under_test("gemm", "cuda")) {
    const cuda::GemmRung& rung = *cuda::find_gemm_rung(info->id);
    if (info->id < "gemm/cuda/26" || !rung.maps) continue;
    GemmCase problem({.dtype = dtype_of(rung), .m = 5 * max_rows, .n = 8, .k = 24});
    problem.set_format(block_format(info->needs));
    const Verdict verdict =
        verify(problem, [&](const GemmCall& call) { run(*backend, *info, call, 2); });
    EXPECT_TRUE(verdict.right) << info->id << ": " << verdict.message;
    ++checked;
  }
  EXPECT_GT(checked, 0);
}

}  // namespace
}  // namespace rung
