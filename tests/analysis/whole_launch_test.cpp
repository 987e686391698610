// A launch predicted from samples of one tile has the same counts as the whole launch, executed.

#include "tools/analysis/whole_launch.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tools/analysis/call_diagnosis.hpp"
#include "tools/analysis/operand_copies.hpp"

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

TEST(WholeLaunch, EndsDoNotGrowWithK) {
  const vgpu::DeviceDescription device = vgpu::parse_device("h200");
  const RungInfo& rung = *select({"gemm/cuda/04"}).front();
  const auto ends = [&](std::int64_t k) {
    const GemmSetting setting = gemm_setting(rung, Dtype::f32, {128, 128, k}, device, "");
    return whole_launch(setting, sample(setting), 2).ends;
  };
  EXPECT_EQ(ends(1024).counters, ends(64).counters) << "64: two samples of a short k, too";
  EXPECT_EQ(ends(1024).counters.ffma, 0);
  EXPECT_EQ(ends(1024).footprint.stored_sectors, 128 * 128 * 4 / 32);
}

TEST(WholeLaunch, FollowsFromThreeSmallProductsOfTiles) {
  const SampledProduct product = {
      {256, 256, 128}, {256, 256, 256}, {512, 256, 128}, {4096, 4096, 4096}};
  KernelTrace first;
  first.grid = {2, 2, 1};
  first.block = {256, 1, 1};
  first.counters.instructions = 400;
  first.footprint.loaded_sectors = 100;
  KernelTrace deeper = first, taller = first;
  deeper.counters.instructions = 600;
  deeper.footprint.loaded_sectors = 200;
  taller.grid = {2, 4, 1};
  const auto whole = whole_launch(product, first, deeper, taller);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->counters.instructions, 256u * (400 + 31 * 200));
  EXPECT_EQ(whole->footprint.loaded_sectors, 16u * (100 + 31 * 100)) << "rows of A, columns of B";
  EXPECT_EQ(whole->grid.count(), 256 * 4);
  EXPECT_FALSE(whole_launch(product, first, deeper, first)) << "persistent blocks";
  deeper.grid.z = 2;
  EXPECT_FALSE(whole_launch(product, first, deeper, taller)) << "parts of k";
}

std::vector<CopyLaunch> copies(const std::string& id, const cuda::GemmSize& size) {
  const vgpu::DeviceDescription device = vgpu::parse_device("h200");
  return trace_copies(gemm_setting(*select({id}).front(), Dtype::f32, size, device, ""));
}

TEST(OperandCopies, ReadEachElementOnce) {
  const std::vector<CopyLaunch> split = copies("gemm/cuda/split_f16", {512, 256, 192});
  ASSERT_EQ(split.size(), 1) << "both operands in one launch";
  EXPECT_EQ(split.front().id, "gemm/cuda/split_operand");
  EXPECT_EQ(split.front().trace.footprint.loaded_sectors, (512 + 256) * 192 * 4 / 32);
}

TEST(OperandCopies, GrowWithTheProblem) {
  const auto few = copies("gemm/cuda/digits", {128, 128, 256}),
             many = copies("gemm/cuda/digits", {512, 512, 256});
  ASSERT_EQ(few.size(), many.size());
  ASSERT_GE(few.size(), 2) << "digits of A and of B";
  for (std::size_t i = 0; i < few.size(); ++i) {
    EXPECT_EQ(4 * few[i].trace.footprint.stored_sectors, many[i].trace.footprint.stored_sectors);
  }
}

TEST(OperandCopies, AreNoneWhereOperandsStayInPlace) {
  EXPECT_TRUE(copies("gemm/cuda/04", {256, 256, 256}).empty());
  EXPECT_TRUE(copies("gemm/cuda/skinny", {4, 256, 256}).empty());
}

ExplainOptions options_of(const std::string& gpu) {
  ExplainOptions options;
  options.gpu = gpu;
  options.device = vgpu::parse_device(gpu);
  return options;
}

diagnosis::Time predicted(const std::string& id, std::int64_t n) {
  const ExplainOptions options = options_of("h200");
  const Machine machine = machine_of(options.device, Dtype::f32, false, {});
  return diagnosed_call(*select({id}).front(), Dtype::f32, n, machine, options).value().time;
}

TEST(PredictedCall, ReadsEachElementOfALongVectorOnce) {
  constexpr std::int64_t n = 1 << 23;  // an eighth of it is counted
  const Machine machine = machine_of(vgpu::parse_device("h200"), Dtype::f32, false, {});
  const diagnosis::Time time = predicted("dot/cuda/09", n);
  const auto dram = std::ranges::find(time.parts, "DRAM", &diagnosis::Part::name);
  EXPECT_NEAR(dram->seconds, 2 * 4.0 * n / machine.memory_bytes, 0.01 * dram->seconds);
}

TEST(PredictedCall, AddsLaunches) {
  const diagnosis::Time one = predicted("dot/cuda/10", 4096),
                        cleared = predicted("dot/cuda/09", 4096),
                        three = predicted("dot/cuda/05", 1 << 19);
  EXPECT_GT(cleared.launch, one.launch);
  EXPECT_GT(three.launch, cleared.launch);
}

TEST(PredictedCall, OfAGemmHasTheLaunchesOfItsCopies) {
  const ExplainOptions options = options_of("h200");
  const auto launch = [&](const std::string& id) {
    const GemmSetting setting =
        gemm_setting(*select({id}).front(), Dtype::f32, {256, 256, 256}, options.device, "");
    const Machine machine = machine_of(options.device, Dtype::f32, false, {});
    return diagnosed_gemm(setting, sample(setting), {}, machine, options).time.launch;
  };
  EXPECT_GT(launch("gemm/cuda/split_f16_mma"), launch("gemm/cuda/fma_tiles"));
}

TEST(LoadedFromDram, IsOfEachOperandOnceWhereL2HoldsBoth) {
  EXPECT_EQ(loaded_from_dram({8, 4, 2, 100, 50}, 1000), 8 * 100 + 4 * 50);
}

TEST(LoadedFromDram, IsOfEachWaveOtherwise) {
  // Two waves, each of half of the rows: B, which does not fit into L2, is loaded twice.
  EXPECT_EQ(loaded_from_dram({4, 8, 16, 100, 100}, 1000), 4 * 100 + 2 * 8 * 100);
  // B alone fits into L2 and stays there.
  EXPECT_EQ(loaded_from_dram({4, 8, 16, 200, 50}, 1000), 4 * 200 + 8 * 50);
}

}  // namespace
}  // namespace rung::analysis
