// Aligned copies of operands that tensor cores cannot read in place: the source of their memory.

#include <gtest/gtest.h>

#include "fixture.hpp"
#include "library/cuda/launch.hpp"
#include "rung/types.hpp"

namespace rung {
namespace {

class CudaCopies : public CudaLibrary {
 protected:
  /// Multiplies ones: m x k, with rows k + 2 apart, by k x n.
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

// A line of the copy has 128 bytes, so the copy takes 33 MiB.
TEST_F(CudaCopies, LieInThePoolIfTheyDoNot) {
  run<float8_e4m3>(33 * 8192, 1, 8);
  EXPECT_EQ(calls("cuMemAllocFromPoolAsync"), 1);
  EXPECT_EQ(calls("cuMemFreeAsync"), 1);
  EXPECT_EQ(calls("cuMemAlloc"), 0);
  release_cuda_workspace(default_stream);
  EXPECT_EQ(calls("cuMemPoolTrimTo"), 1);
}

TEST_F(CudaCopies, AreNotMadeIfTheCallersWorkspaceIsTooSmall) {
  constexpr std::size_t bytes = 920'000;  // sufficient for 1000 rows, but not for 1200
  void* const workspace = on_device(std::vector<char>(bytes));
  for (const std::int64_t m : {1000, 1200}) {
    run<bfloat16>(m, 129, 1000, {.workspace = workspace, .workspace_bytes = bytes});
    EXPECT_EQ(calls("cuMemAllocFromPoolAsync") + calls("cuMemAlloc"), 0);
    EXPECT_EQ(calls("cuTensorMapEncodeTiled") > 0, m == 1000);
  }
}

// A product this small uses no copies.
TEST_F(CudaCopies, AreNotMadeForASmallProduct) {
  run<bfloat16>(200, 65, 8);
  EXPECT_EQ(calls("cuTensorMapEncodeTiled"), 0);
}

/// Launches of compute mode split, for a product of any size.
class CudaHalves : public CudaCopies {
 protected:
  static constexpr std::int64_t m = 131, n = 70, k = 65;

  void run(const CudaOptions& options = {}) {
    std::vector<float> ramp(static_cast<std::size_t>(m * k));
    // The row index.
    for (std::size_t i = 0; i < ramp.size(); ++i) ramp[i] = static_cast<float>(i / k);
    const float* const a = on_device(ramp);
    const float* const b = on_device(std::vector<float>(static_cast<std::size_t>(k * n), 3));
    float* const c = on_device(std::vector<float>(static_cast<std::size_t>(m * n), 7));
    const GemmCall problem = {Dtype::f32, m,         n, k,         1,
                              {a, k, 1},  {b, 1, k}, 0, {c, n, 1}, ComputeMode::split};
    cuda::driver_calls().clear();
    cuda::launch_gemm(
        {cuda::current_context(), nullptr, options.workspace, options.workspace_bytes},
        cuda::configured_gemm("gemm/cuda/split_f16"), problem, 132);
    const auto results = from_device(c, static_cast<std::size_t>(m * n));
    for (std::size_t i = 0; i < results.size(); ++i) {
      ASSERT_EQ(results[i], 3.0f * k * static_cast<float>(i / n));
    }
  }
};

TEST_F(CudaHalves, LieInTheWorkspaceIfTheyFit) {
  run();
  EXPECT_EQ(calls("cuMemAllocFromPoolAsync"), 0);
  EXPECT_EQ(calls("cuMemAlloc"), 1);
  // One for A and B, one for the product.
  EXPECT_EQ(calls("cuLaunchKernelEx") + calls("cuLaunchKernel"), 2);
}

// Also the residues of C that a block keeps.
TEST_F(CudaCopies, ResiduesLieInTheWorkspaceIfTheyFit) {
  constexpr std::int64_t m = 131, n = 270, k = 65;
  const double* const a = on_device(std::vector<double>(static_cast<std::size_t>(m * k), 0.5));
  const double* const b = on_device(std::vector<double>(static_cast<std::size_t>(k * n), 3));
  double* const c = on_device(std::vector<double>(static_cast<std::size_t>(m * n), 7));
  const GemmCall problem = {Dtype::f64, m,         n, k,         1,
                            {a, k, 1},  {b, n, 1}, 0, {c, n, 1}, ComputeMode::split};
  cuda::driver_calls().clear();
  cuda::launch_gemm({cuda::current_context(), nullptr, nullptr, 0},
                    cuda::configured_gemm("gemm/cuda/residues"), problem, 132);
  EXPECT_EQ(calls("cuMemAllocFromPoolAsync"), 0);
  EXPECT_EQ(calls("cuLaunchKernelEx") + calls("cuLaunchKernel"), 3);  // A, B, the product
  const auto results = from_device(c, static_cast<std::size_t>(m * n));
  EXPECT_EQ(results, std::vector<double>(static_cast<std::size_t>(m * n), 1.5 * k));
}

TEST_F(CudaHalves, LieInThePoolIfTheyDoNot) {
  void* const workspace = on_device(std::vector<char>(256));
  run({.workspace = workspace, .workspace_bytes = 256});
  EXPECT_EQ(calls("cuMemAllocFromPoolAsync"), 1);
  EXPECT_EQ(calls("cuMemFreeAsync"), 1);
  EXPECT_EQ(calls("cuMemAlloc"), 0);
}

}  // namespace
}  // namespace rung
