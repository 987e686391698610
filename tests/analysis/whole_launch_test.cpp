// A launch predicted from samples of one tile has the counts of the tile itself, run as a whole.

#include "analysis/whole_launch.hpp"

#include <gtest/gtest.h>

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
