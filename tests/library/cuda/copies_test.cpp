// Aligned copies of operands that tensor cores cannot read as they lie: where their memory is from.

#include <gtest/gtest.h>

#include "fixture.hpp"
#include "rung/types.hpp"

namespace rung {
namespace {

constexpr std::int64_t n = 8;  // columns of B and C

class CudaCopies : public CudaLibrary {
 protected:
  /// A column of m ones, its elements 3 apart, times a row of n ones.
  void run(std::int64_t m, const CudaOptions& options = {}) {
    const bfloat16 one(1.0f);
    const bfloat16* const a = on_device(std::vector(static_cast<std::size_t>(3 * m), one));
    const bfloat16* const b = on_device(std::vector(static_cast<std::size_t>(n), one));
    const auto elements = static_cast<std::size_t>(m * n);
    float* const c = on_device(std::vector<float>(elements, 7));
    cuda::driver_calls().clear();
    gemm(row_major(a, m, 1, 3), row_major(b, 1, n, n), row_major(c, m, n, n), default_stream,
         options);
    EXPECT_TRUE(from_device(c, elements) == std::vector<float>(elements, 1));
  }
  static int calls(const char* name) { return cuda::driver_calls()[name]; }
};

TEST_F(CudaCopies, LieInTheWorkspaceIfTheyFit) {
  run(1000);
  EXPECT_EQ(calls("cuMemAllocFromPoolAsync"), 0);
  EXPECT_EQ(calls("cuMemAlloc"), 1);
}

// A line of the copy has 128 bytes: 33 MiB.
TEST_F(CudaCopies, LieInThePoolIfTheyDoNot) {
  run(33 * 8192);
  EXPECT_EQ(calls("cuMemAllocFromPoolAsync"), 1);
  EXPECT_EQ(calls("cuMemFreeAsync"), 1);
  EXPECT_EQ(calls("cuMemAlloc"), 0);
  release_cuda_workspace(default_stream);
  EXPECT_EQ(calls("cuMemPoolTrimTo"), 1);
}

TEST_F(CudaCopies, AreNotMadeIfTheCallersWorkspaceIsTooSmall) {
  void* const workspace = on_device(std::vector<char>(1 << 17));
  for (const std::int64_t m : {200, 2000}) {
    run(m, {.workspace = workspace, .workspace_bytes = 1 << 17});
    EXPECT_EQ(calls("cuMemAllocFromPoolAsync") + calls("cuMemAlloc"), 0);
    EXPECT_EQ(calls("cuTensorMapEncodeTiled") > 0, m == 200);
  }
}

}  // namespace
}  // namespace rung
