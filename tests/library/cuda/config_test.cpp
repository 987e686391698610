// Configurations: tiles by index, splits that need a workspace, and the source of its memory.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "fixture.hpp"
#include "library/cuda/launch.hpp"

namespace rung {
namespace {

using cuda::GemmConfig, cuda::Launch;

constexpr std::int64_t mebibyte = 1 << 20;

/// The splits of the last launch.
int splits = 0;

/// The launch of a rung that splits k: 4 MiB of workspace per split, and none for a single split.
/// Its kernel is that of another rung, which needs no workspace.
Launch split(const Gemm<float>&, const GemmConfig& config) {
  splits = config.splits;
  return {.grid = {1},
          .block = {32, 32},
          .workspace_bytes = config.splits == 1 ? 0 : config.splits * 4 * mebibyte};
}

class CudaPlan : public CudaLibrary {
 protected:
  const float* a = nullptr;
  float* c = nullptr;

  void SetUp() override {
    CudaLibrary::SetUp();
    a = on_device(std::vector<float>{3});
    c = on_device(std::vector<float>{0});
  }

  void run(int wanted_splits, cuda::Stream stream, const CudaOptions& options = {}) {
    static const cuda::GemmRung rung = {
        "gemm_cuda_01_coalesced", {split, nullptr, nullptr, nullptr, nullptr}, {}};
    const GemmCall problem = {Dtype::f32, 1, 1, 1, 1, {a, 1, 1}, {a, 1, 1}, 0, {c, 1, 1}};
    cuda::driver_calls().clear();
    cuda::launch_gemm({cuda::current_context(), stream, options.workspace, options.workspace_bytes},
                      {1, "gemm/cuda/01_coalesced", &rung, {.splits = wanted_splits}}, problem,
                      132);
    EXPECT_EQ(from_device(c, 1), std::vector<float>{9});
  }
  static int allocations() { return cuda::driver_calls()["cuMemAlloc"]; }
};

TEST_F(CudaPlan, AWorkspaceIsMadeOnceForEachStream) {
  const cuda::Stream stream = new_stream();
  run(1, stream);
  EXPECT_EQ(allocations(), 0);
  run(4, stream);
  EXPECT_EQ(allocations(), 1);
  EXPECT_EQ(splits, 4);
  run(8, stream);
  EXPECT_EQ(allocations(), 0);
  run(2, new_stream());
  EXPECT_EQ(allocations(), 1);
  run(2, nullptr);
  EXPECT_EQ(allocations(), 1);
  run(2, cuda::legacy_stream());  // another name of the same stream
  EXPECT_EQ(allocations(), 0);
}

TEST_F(CudaPlan, AWorkspaceIsReleasedOnDemand) {
  const cuda::Stream stream = new_stream();
  release_cuda_workspace(CudaStream(stream));
  EXPECT_EQ(cuda::driver_calls()["cuMemFree"], 0);
  run(2, stream);
  release_cuda_workspace(CudaStream(stream));
  EXPECT_EQ(cuda::driver_calls()["cuMemFree"], 1);
  run(2, stream);
  EXPECT_EQ(allocations(), 1);
}

TEST_F(CudaPlan, ThereAreNoMoreSplitsThanTheWorkspaceHolds) {
  run(100, nullptr);
  EXPECT_EQ(splits, 8);  // 32 MiB
}

TEST_F(CudaPlan, TheCallersWorkspaceIsTaken) {
  void* const workspace = on_device(std::vector<char>(256));
  run(4, nullptr, {.workspace = workspace, .workspace_bytes = 13 * mebibyte});
  EXPECT_EQ(splits, 3);
  EXPECT_EQ(allocations(), 0);
  run(4, nullptr, {.workspace = workspace, .workspace_bytes = 256});
  EXPECT_EQ(splits, 1);
  EXPECT_EQ(allocations(), 0);
}

// All tiles of the grid together would need 277 MB.
TEST_F(CudaPlan, PersistentBlocksNeedAWorkspaceForTheirSmsAlone) {
  const GemmCall problem = {Dtype::bf16,  4088,         4104, 4000,        1,
                            {a, 4000, 1}, {a, 1, 4000}, 0,    {c, 4104, 1}};
  cuda::ConfiguredGemm gemm =
      cuda::configured_gemm("gemm/cuda/wgmma_tiles", {.tile = 0, .splits = 4});
  const Launch launch =
      cuda::fitting_launch({cuda::current_context(), nullptr, nullptr, 0}, gemm, problem, 132);
  EXPECT_EQ(gemm.config.splits, 4);
  EXPECT_EQ(launch.grid.x, 132);
}

TEST(CudaEntries, AreNamedAfterTheTypeAndTheTile) {
  const cuda::ConfiguredGemm tuned = cuda::configured_gemm("gemm/cuda/10_tuned_tiles", {.tile = 1});
  EXPECT_EQ(kernel_of(tuned, Dtype::f32).text(), "gemm_cuda_10_tuned_tiles_f32_1");
  const cuda::ConfiguredGemm naive = cuda::configured_gemm("gemm/cuda/00_naive");
  EXPECT_EQ(kernel_of(naive, Dtype::f64).text(), "gemm_cuda_00_naive_f64");
}

// The table looks up a kernel by its index, so two kernels with the same index would be confused.
TEST(CudaEntries, HaveIndicesOfTheirOwn) {
  std::map<std::size_t, std::string> names;
  const auto add = [&](const cuda::KernelName& kernel) {
    EXPECT_LT(kernel.index, cuda::kernel_count);
    const auto [at, is_new] = names.emplace(kernel.index, kernel.text());
    EXPECT_TRUE(is_new) << kernel.text() << " has the index of " << at->second;
  };
  const auto add_gemm = [&](cuda::ConfiguredGemm gemm) {
    for (const Dtype dtype : all_dtypes) {
      if (!has(*gemm.rung, dtype)) continue;
      const std::size_t tiles = std::max<std::size_t>(tiles_of(*gemm.rung, dtype).size(), 1);
      for (std::size_t tile = 0; tile < tiles; ++tile) {
        gemm.config.tile = static_cast<int>(tile);
        add(kernel_of(gemm, dtype));
      }
    }
  };
  for (const cuda::NamedGemmRung& rung : cuda::gemm_rungs) add_gemm(cuda::configured_gemm(rung.id));
  add_gemm(cuda::scale);
  add_gemm(cuda::pack_operand);
  add_gemm(cuda::split_operand);
  add_gemm(cuda::split_digits);
  add_gemm(cuda::apply_epilogue);
  add_gemm(cuda::fused_epilogue);
  add_gemm(cuda::split_residues);
  add_gemm(cuda::mixed_operand);
  add_gemm(cuda::tile_signal_gemm);
  add_gemm(cuda::few_rows);
  add_gemm(cuda::summed_parts);
  add_gemm(cuda::quantize_operand);
  for (std::size_t rung = 0; rung < cuda::dot_rungs.size(); ++rung) {
    for (const Dtype dtype : all_dtypes) add(cuda::kernel_of_dot(rung, dtype));
  }
  EXPECT_GT(names.size(), 200u);
}

}  // namespace
}  // namespace rung
