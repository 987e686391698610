// The candidate configurations, and which of them can win. No test here depends on timings.

#include "tools/measure/tune.hpp"

#include <gtest/gtest.h>

#include "virtual_backend.hpp"

namespace rung {
namespace {

using cuda::GemmConfig;

TuneResult tune_tiles(const cuda::GemmRung& rung, const GemmConfig& before) {
  TuneRequest request;
  request.rung = {"gemm/cuda/10_tuned_tiles", &rung};
  request.size = {96, 96, 40};
  request.gpu = &virtual_gpu();
  request.before = before;
  request.seconds = 1e-3;
  return tune(request);
}

// A rung with correct results for its first tile; for any other, it does not launch the last block.
cuda::GemmRung with_a_block_missing() {
  cuda::GemmRung rung = gemm_cuda_10_tuned_tiles;
  rung.launches.f32 = [](const Gemm<float>& g, const GemmConfig& config) {
    cuda::Launch launch = gemm_cuda_10_tuned_tiles.launches.f32(g, config);
    if (config.tile != 0) launch.grid.x -= 1;
    return launch;
  };
  return rung;
}

TEST(Tune, EveryTileIsACandidateOnce) {
  const TuneResult result = tune_tiles(gemm_cuda_10_tuned_tiles, {1, 1});
  ASSERT_EQ(result.candidates.size(), cuda::tiles_of(gemm_cuda_10_tuned_tiles, Dtype::f32).size());
  EXPECT_EQ(result.candidates[0].config.tile, 1);
  EXPECT_EQ(result.candidates[1].config.tile, 0);
  for (const TuneCandidate& candidate : result.candidates) {
    EXPECT_EQ(candidate.wrong, "");
    EXPECT_GT(candidate.seconds.median, 0);
  }
  ASSERT_TRUE(result.best);
  EXPECT_TRUE(result.candidates[*result.best].is_finalist);
  EXPECT_TRUE(result.candidates[0].is_finalist);
  EXPECT_GT(result.gain, 0);
  EXPECT_TRUE(result.refused.empty());
}

TEST(Tune, WrongPlansAreNeitherTimedNorChosen) {
  const TuneResult result = tune_tiles(with_a_block_missing(), {0, 1});
  ASSERT_GT(result.candidates.size(), 1u);
  EXPECT_EQ(result.candidates[0].wrong, "");
  for (std::size_t i = 1; i < result.candidates.size(); ++i) {
    EXPECT_EQ(result.candidates[i].wrong,
              "on small integers another result than a configuration that is right");
    EXPECT_EQ(result.candidates[i].seconds.count, 0u);
  }
  EXPECT_EQ(result.best, 0u);
}

TEST(Tune, AWrongPlanIsNotWhatOthersAreHeldAgainst) {
  const TuneResult result = tune_tiles(with_a_block_missing(), {1, 1});
  ASSERT_GT(result.candidates.size(), 1u);
  EXPECT_NE(result.candidates[0].wrong, "");
  EXPECT_EQ(result.candidates[1].wrong, "");
  EXPECT_EQ(result.best, 1u);
  EXPECT_EQ(result.gain, 0);  // a gain over a wrong plan is not reported
}

TEST(Tune, NoCopyOfBIsTimed) {
  cuda::GemmRung rung = gemm_cuda_wgmma_tiles;
  rung.launches.e4m3 = [](const Gemm<float8_e4m3, float>& g, const GemmConfig& config) {
    EXPECT_EQ(g.b.row_stride, 1);  // B is K-major
    return gemm_cuda_wgmma_tiles.launches.e4m3(g, config);
  };
  TuneRequest request;
  request.rung = {"gemm/cuda/wgmma_tiles", &rung};
  request.dtype = Dtype::e4m3;
  request.size = {64, 72, 144};
  request.gpu = &virtual_gpu();
  request.seconds = 1e-3;
  EXPECT_TRUE(tune(request).best);
}

TEST(Tune, PlansThatCannotBeLaunchedAreCounted) {
  TuneRequest request;
  request.rung = {"gemm/cuda/fma_tiles", &gemm_cuda_fma_tiles};
  request.size = {16, 16, 512};
  request.gpu = &virtual_gpu();
  request.before = {2, 4};  // more splits than multiprocessors
  request.seconds = 1e-3;
  const TuneResult result = tune(request);
  for (const TuneCandidate& candidate : result.candidates) EXPECT_EQ(candidate.config.splits, 1);
  EXPECT_TRUE(result.best);
  EXPECT_GT(
      result.refused.count("4 splits of k must be resident at once; at most 1 can be, one per SM"),
      0u);
}

}  // namespace
}  // namespace rung
