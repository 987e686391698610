// The traffic derived from the tile sizes equals the traffic that the virtual GPU counts.

#include "tools/analysis/traffic_rows.hpp"

#include <gtest/gtest.h>

#include "ladder.hpp"

namespace rung::analysis {
namespace {

using Q = Quantities;

TEST(Traffic, FormulasAreThoseOfTheBook) {
  // siboehm's kernels, as in seed 001: K/16 and 2K; K/32 and 9K/8.
  const Traffic shared_tile = gemm_traffic({.BM = 32, .BN = 32, .BK = 32}, {});
  EXPECT_EQ(shared_tile.global_loads.per_k, 1.0 / 16);
  EXPECT_EQ(shared_tile.shared_loads.per_k, 2);
  EXPECT_EQ(shared_tile.shared_loads.text, "2K");
  const Traffic column = gemm_traffic({.BM = 64, .BN = 64, .BK = 8, .TM = 8}, {});
  EXPECT_EQ(column.global_loads.per_k, 1.0 / 32);
  EXPECT_EQ(column.shared_loads.per_k, 9.0 / 8);
  EXPECT_EQ(column.shared_loads.text, "K + K/8");
  EXPECT_EQ(column.global_stores.text, "1");
  EXPECT_EQ(gemm_traffic({.BM = 32, .BN = 32}, {}).global_loads.text, "2K");
  EXPECT_EQ(gemm_traffic({.BM = 32, .BN = 32, .BK = 8}, {.splits = 3}).global_stores.at(100), 4);
}

/// Requires equal traffic per k, and equal constant traffic except for rungs that copy
/// asynchronously: those copy zeros past the end of k and load fragments one step ahead.
void expect_counted(const GemmSetting& setting, const Samples& samples) {
  SCOPED_TRACE(setting.entry());
  const Traffic expected = expected_traffic(setting, samples);
  const bool ahead = setting.info->id >= "gemm/cuda/09";
  const auto expect = [&](const Formula& formula, double Q::* counted) {
    EXPECT_NEAR(samples.per_k(counted), formula.per_k, 1e-12) << formula.text;
    if (ahead) {
      EXPECT_GE(samples.constant(counted), formula.constant - 1e-9) << formula.text;
    } else {
      EXPECT_NEAR(samples.constant(counted), formula.constant, 1e-9) << formula.text;
    }
  };
  expect(expected.global_loads, &Q::global_load_elements);
  expect(expected.global_stores, &Q::global_store_elements);
  expect(expected.shared_loads, &Q::shared_load_elements);
  expect(expected.shared_stores, &Q::shared_store_elements);
  EXPECT_NEAR(samples.constant(&Q::global_store_elements), expected.global_stores.constant, 1e-9);
}

class TrafficBy : public testing::TestWithParam<std::string> {};

TEST_P(TrafficBy, EveryRungIsAsCounted) {
  for (const Step& step : ladder(GetParam())) expect_counted(step.setting, step.samples);
}

// Also for bulk copies and for the operands that tensor cores read from shared memory themselves.
TEST_P(TrafficBy, EveryRungOfTensorCoresIsAsCounted) {
  for (const Step& step : ladder(GetParam(), true)) {
    SCOPED_TRACE(step.setting.entry());
    const std::string& id = step.setting.info->id;
    const bool ahead =
        id == "gemm/cuda/22_stages" || id == "gemm/cuda/23_wgmma" || id == "gemm/cuda/small_mma";
    for (const TrafficRow& row : gemm_rows(step.setting, step.samples)) {
      SCOPED_TRACE(row.name);
      EXPECT_NEAR(row.per_k, row.expected.per_k, 1e-12) << row.expected.text;
      if (ahead) {
        EXPECT_GE(row.constant, row.expected.constant - 1e-9);
      } else {
        EXPECT_NEAR(row.constant, row.expected.constant, 1e-9);
      }
    }
  }
}

TEST(Traffic, ClustersAndTensorCoresShareElements) {
  const cuda::Tiling tiling = {.BM = 128, .BN = 256, .BK = 64};
  const Traffic traffic = gemm_traffic(
      tiling, {.cluster = 2, .fragment_rows = 64, .fragment_columns = 256, .stages_results = true});
  EXPECT_EQ(traffic.global_loads.text, "K/256 + K/256");
  EXPECT_EQ(traffic.shared_stores.text, "K/256 + K/128 + 1");
  EXPECT_EQ(traffic.shared_loads.text, "K/256 + K/64 + 1");
}

TEST(Traffic, EveryTileOfShapesIsAsCounted) {
  for (int tile = 0; tile < 5; ++tile) {
    GemmSetting setting = setting_of(*select({"gemm/cuda/29"}).front(), front_ends().back());
    setting.config = {tile, 1};
    for (const TrafficRow& row : gemm_rows(setting, sample(setting))) {
      EXPECT_NEAR(row.per_k, row.expected.per_k, 1e-12) << tile << row.name;
      EXPECT_NEAR(row.constant, row.expected.constant, 1e-9) << tile << row.name;
    }
  }
}

TEST_P(TrafficBy, PartsOfKLeaveTheirSumsInMemory) {
  GemmSetting setting = setting_of(*select({"gemm/cuda/fma_tiles"}).front(), GetParam());
  setting.config = {2, 2};
  expect_counted(setting, sample(setting));
}

TEST(Traffic, EveryTileIsAsCounted) {
  for (int tile = 0; tile < 6; ++tile) {
    GemmSetting setting = setting_of(*select({"gemm/cuda/fma_tiles"}).front());
    setting.config = {tile, 1};
    expect_counted(setting, sample(setting));
  }
}

TEST_P(TrafficBy, DoublesAndIntegersAreAsCounted) {
  for (const Dtype dtype : {Dtype::f64, Dtype::i32}) {
    const GemmSetting setting =
        gemm_setting(*select({"gemm/cuda/06"}).front(), dtype, {512, 512, 512},
                     vgpu::parse_device("a100"), GetParam());
    const Samples samples = sample(setting);
    EXPECT_NEAR(samples.per_k(&Q::shared_load_elements), 0.25, 1e-12);
    EXPECT_NEAR(samples.per_k(&Q::global_load_elements), 1.0 / 64, 1e-12);
  }
}

// Each warp reads each fragment of mma once.
TEST_P(TrafficBy, DoublesOnTensorCoresAreAsCounted) {
  for (const RungInfo* rung : select({"gemm/cuda/mma_f64", "gemm/cuda/mma_f64_warp_specialized"})) {
    const GemmSetting setting =
        gemm_setting(*rung, Dtype::f64, {4096, 4096, 4096}, vgpu::parse_device("h200"), GetParam());
    const Samples samples = sample(setting);
    expect_counted(setting, samples);
    const Evidence evidence = gemm_evidence(setting, samples, built_in_results());
    EXPECT_EQ(evidence.machine.sheet_flops, 67e12) << rung->id;
  }
}

INSTANTIATE_TEST_SUITE_P(Gemm, TrafficBy, testing::ValuesIn(front_ends()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace rung::analysis
