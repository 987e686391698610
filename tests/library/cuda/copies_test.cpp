// Aligned copies of operands that tensor cores cannot read as they lie: where their memory is from.

#include <gtest/gtest.h>

#include "fixture.hpp"
#include "rung/types.hpp"

namespace rung {
namespace {

class CudaCopies : public CudaLibrary {
 protected:
  /// m x k ones, its rows k + 2 apart, times k x n ones.
  template <class T>
  void run(std::int64_t m, std::int64_t k, std::int64_t n, const CudaOptions& options = {}) {
    const T one{1.0f};
    const T* const a = on_device(std::vector(static_cast<std::size_t>((k + 2) * m), one));
    const T* const b = on_device(std::vector(static_cast<std::size_t>(k * n), one));
    const auto elements = static_cast<std::size_t>(m * n);
    float* const c = on_device(std::vector<float>(elements, 7));
    cuda::driver_calls().clear();
    gemm(1, row_major(a, m, k, k + 2), row_major(b, k, n, n), 0, row_major(c, m, n, n),
         default_stream, options);
    EXPECT_TRUE(from_device(c, elements) == std::vector<float>(elements, static_cast<float>(k)));
  }
  static int calls(const char* name) { return cuda::driver_calls()[name]; }
};

TEST_F(CudaCopies, LieInTheWorkspaceIfTheyFit) {
  run<float8_e4m3>(1000, 1, 8);
  EXPECT_EQ(calls("cuMemAllocFromPoolAsync"), 0);
  EXPECT_EQ(calls("cuMemAlloc"), 1);
}

// A line of the copy has 128 bytes: 33 MiB.
TEST_F(CudaCopies, LieInThePoolIfTheyDoNot) {
  run<float8_e4m3>(33 * 8192, 1, 8);
  EXPECT_EQ(calls("cuMemAllocFromPoolAsync"), 1);
  EXPECT_EQ(calls("cuMemFreeAsync"), 1);
  EXPECT_EQ(calls("cuMemAlloc"), 0);
  release_cuda_workspace(default_stream);
  EXPECT_EQ(calls("cuMemPoolTrimTo"), 1);
}

TEST_F(CudaCopies, AreNotMadeIfTheCallersWorkspaceIsTooSmall) {
  constexpr std::size_t bytes = 920'000;  // for 1000 rows, but not for 1200
  void* const workspace = on_device(std::vector<char>(bytes));
  for (const std::int64_t m : {1000, 1200}) {
    run<bfloat16>(m, 129, 1000, {.workspace = workspace, .workspace_bytes = bytes});
    EXPECT_EQ(calls("cuMemAllocFromPoolAsync") + calls("cuMemAlloc"), 0);
    EXPECT_EQ(calls("cuTensorMapEncodeTiled") > 0, m == 1000);
  }
}

// A product this small goes without copies.
TEST_F(CudaCopies, AreNotMadeForASmallProduct) {
  run<bfloat16>(200, 65, 8);
  EXPECT_EQ(calls("cuTensorMapEncodeTiled"), 0);
}

}  // namespace
}  // namespace rung
