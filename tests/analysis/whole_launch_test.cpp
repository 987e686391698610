// A launch predicted from samples of one tile has the counts of the tile itself, run as a whole.

#include "analysis/whole_launch.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/predicted_call.hpp"

namespace rung::analysis {
namespace {

TEST(WholeLaunch, CountsAsTheWholeTileRunByItself) {
  const vgpu::DeviceDescription device = vgpu::parse_device("h200");
  const RungInfo& rung = *select({"gemm/cuda/04"}).front();
  constexpr std::int64_t k = 200;
  const GemmSetting setting = gemm_setting(rung, Dtype::f32, {128, 128, k}, device, "");
  const WholeLaunch whole = whole_launch(setting, sample(setting), 2);
  const KernelTrace run = TileRunner(setting).run(k);
  EXPECT_EQ(whole.trace.counters, run.counters);
  EXPECT_EQ(whole.trace.grid.count(), run.grid.count());
  EXPECT_EQ(whole.trace.multiply_adds, run.multiply_adds);
  EXPECT_EQ(whole.trace.footprint.loaded_sectors_by_block, run.footprint.loaded_sectors_by_block);
  EXPECT_EQ(whole.dram_bytes, 4.0 * (128 * k + k * 128 + 128 * 128));
}

TEST(WholeLaunch, CountsEachTileOnce) {
  const vgpu::DeviceDescription device = vgpu::parse_device("h200");
  const RungInfo& rung = *select({"gemm/cuda/04"}).front();
  const auto of = [&](std::int64_t m, std::int64_t n) {
    const GemmSetting setting = gemm_setting(rung, Dtype::f32, {m, n, 1024}, device, "");
    return whole_launch(setting, sample(setting), 2).trace;
  };
  EXPECT_EQ(of(512, 256).counters.ffma, 8 * of(128, 128).counters.ffma);
  EXPECT_EQ(of(512, 256).grid.count(), 8);
}

ExplainOptions options_of(const std::string& gpu) {
  ExplainOptions options;
  options.gpu = gpu;
  options.device = vgpu::parse_device(gpu);
  return options;
}

std::optional<diagnosis::Time> predicted(const std::string& id, std::int64_t n) {
  const ExplainOptions options = options_of("h200");
  const Machine machine = machine_of(options.device, Dtype::f32, false, {});
  return predicted_call(*select({id}).front(), Dtype::f32, n, machine, options);
}

TEST(PredictedCall, ReadsEachElementOfALongVectorOnce) {
  constexpr std::int64_t n = 1 << 23;  // of which an eighth is counted
  const Machine machine = machine_of(vgpu::parse_device("h200"), Dtype::f32, false, {});
  const auto time = predicted("dot/cuda/09", n);
  ASSERT_TRUE(time);
  const auto dram = std::ranges::find(time->parts, "DRAM", &diagnosis::Part::name);
  EXPECT_NEAR(dram->seconds, 2 * 4.0 * n / machine.memory_bytes, 0.01 * dram->seconds);
}

TEST(PredictedCall, AddsLaunches) {
  const auto one = predicted("dot/cuda/10", 4096), cleared = predicted("dot/cuda/09", 4096),
             three = predicted("dot/cuda/05", 1 << 19);
  ASSERT_TRUE(one && cleared && three);
  EXPECT_GT(cleared->launch, one->launch);
  EXPECT_GT(three->launch, cleared->launch);
}

TEST(PredictedCall, IsNoneWhereTheCpuAddsUp) { EXPECT_FALSE(predicted("dot/cuda/01", 4096)); }

TEST(LoadedFromDram, IsOfEachOperandOnceWhereL2HoldsBoth) {
  EXPECT_EQ(loaded_from_dram({8, 4, 2, 100, 50}, 1000), 8 * 100 + 4 * 50);
}

TEST(LoadedFromDram, IsOfEachWaveOtherwise) {
  // Two waves of half of the rows each: B, which does not fit, is loaded twice.
  EXPECT_EQ(loaded_from_dram({4, 8, 16, 100, 100}, 1000), 4 * 100 + 2 * 8 * 100);
  // B fits by itself, and stays.
  EXPECT_EQ(loaded_from_dram({4, 8, 16, 200, 50}, 1000), 4 * 200 + 8 * 50);
}

}  // namespace
}  // namespace rung::analysis
