// Configurations as data: the lines of a file, and the lookup by shape.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <string>

#include "backends/rungs/cuda.hpp"
#include "backends/rungs/kernel_name.hpp"
#include "core/dtype.hpp"
#include "select/cuda/tuned.hpp"

namespace rung::cuda {
namespace {

constexpr std::string_view split_k = "gemm/cuda/fma_tiles";
constexpr Limits h200 = {.shared_bytes = 232448, .multiprocessors = 132};

const GemmRung& rung_of(std::string_view id) { return *find_gemm_rung(id); }

TEST(Tuned, LinesAreReadAsTheyAreWritten) {
  const std::string text = "gemm/cuda/fma_tiles f32 64 32 65536 2 66\n";
  const auto shapes = parse_tuned("# a comment\n\n" + text);
  ASSERT_EQ(shapes.size(), 1u);
  EXPECT_EQ(shapes[0].rung, split_k);
  EXPECT_EQ(shapes[0].dtype, Dtype::f32);
  EXPECT_EQ(shapes[0].size.m, 64);
  EXPECT_EQ(shapes[0].size.n, 32);
  EXPECT_EQ(shapes[0].size.k, 65536);
  EXPECT_TRUE(shapes[0].config == (GemmConfig{2, 66}));
  EXPECT_EQ(format_tuned(shapes[0]), text);
}

TEST(Tuned, EveryTypeHasLinesOfItsOwn) {
  std::string text;
  for (const Dtype dtype : all_dtypes) {
    text += format_tuned({std::string(split_k), dtype, {64, 64, 64}, {0, 1}});
  }
  const auto shapes = parse_tuned(text);
  ASSERT_EQ(shapes.size(), all_dtypes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) EXPECT_EQ(shapes[i].dtype, all_dtypes[i]);
}

TEST(Tuned, BadLinesAreNamed) {
  for (const std::string line : {
           "gemm/cuda/fma_tiles f32 64 64 64 2",         // one short
           "gemm/cuda/fma_tiles f32 64 64 64 2 66 1 1",  // one too many
           "gemm/cuda/fma_tiles f23 64 64 64 2 66",      // no such type
           "gemm/cuda/fma_tiles f32 64 0 64 2 66",       // an empty shape
           "gemm/cuda/fma_tiles f32 64 64 64 -1 66",     // no tile
           "gemm/cuda/fma_tiles f32 64 64 64 2 0",       // no part
           "gemm/cuda/fma_tiles f32 64 64 many 2 66",    // no number
       }) {
    try {
      parse_tuned("# a comment\n" + line + "\n");
      FAIL() << line;
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(std::string(error.what()).find("'" + line + "' is not '"), 0u) << error.what();
    }
  }
}

TEST(Tuned, AResultReplacesThatOfItsProblemAlone) {
  const std::string before =
      "# kept\n"
      "gemm/cuda/fma_tiles f32 64 64 64 0 1\n"
      "gemm/cuda/fma_tiles f64 64 64 64 0 1\n"
      "gemm/cuda/10_tuned_tiles f32 64 64 64 0 1\n"
      "gemm/cuda/fma_tiles f32 64 64 65 0 1\n";
  const TunedShape found = {std::string(split_k), Dtype::f32, {64, 64, 64}, {2, 3}};
  EXPECT_EQ(merge_tuned(before, found),
            "# kept\n"
            "gemm/cuda/fma_tiles f32 64 64 64 2 3\n"
            "gemm/cuda/fma_tiles f64 64 64 64 0 1\n"
            "gemm/cuda/10_tuned_tiles f32 64 64 64 0 1\n"
            "gemm/cuda/fma_tiles f32 64 64 65 0 1\n");
  const TunedShape other = {std::string(split_k), Dtype::f32, {1, 2, 3}, {1, 1}};
  EXPECT_EQ(merge_tuned(before, other), before + "gemm/cuda/fma_tiles f32 1 2 3 1 1\n");
  EXPECT_EQ(merge_tuned("", other), "gemm/cuda/fma_tiles f32 1 2 3 1 1\n");
  EXPECT_THROW(merge_tuned("gemm\n", other), std::runtime_error);
}

GemmConfig nearest(const TunedConfigs& configs, const GemmSize& size, const Limits& limits = h200) {
  return configs.nearest(rung_of(split_k), split_k, Dtype::f32, size, limits);
}

TEST(Tuned, AShapeTakesThePlanOfTheNearestOne) {
  const TunedConfigs configs(
      parse_tuned("gemm/cuda/10_tuned_tiles f32 100 100 100 1 1\n"
                  "gemm/cuda/fma_tiles f32 64 64 65536 2 66\n"
                  "gemm/cuda/fma_tiles f64 100 100 100 0 5\n"
                  "gemm/cuda/fma_tiles f32 1024 1024 1024 1 2\n"));
  EXPECT_TRUE(nearest(configs, {100, 50, 30000}) == (GemmConfig{2, 66}));
  EXPECT_TRUE(nearest(configs, {1000, 1000, 1000}) == (GemmConfig{1, 2}));
  // Treated as 1 x 1000 x 1000.
  EXPECT_TRUE(nearest(configs, {0, 1000, 1000}) == (GemmConfig{1, 2}));
  EXPECT_TRUE(nearest(TunedConfigs(), {1000, 1000, 1000}) == GemmConfig{});
}

TEST(Tuned, OfTwoLinesForAShapeTheFirstCounts) {
  const TunedConfigs configs(
      parse_tuned("gemm/cuda/fma_tiles f32 64 64 64 1 1\n"
                  "gemm/cuda/fma_tiles f32 64 64 64 2 1\n"));
  EXPECT_TRUE(nearest(configs, {64, 64, 64}) == (GemmConfig{1, 1}));
}

TEST(Tuned, KIsInNoMorePartsThanItHasTiles) {
  const TunedConfigs configs(parse_tuned("gemm/cuda/fma_tiles f32 64 64 65536 2 66\n"));
  EXPECT_TRUE(nearest(configs, {64, 64, 40}) == (GemmConfig{2, 3}));  // of 16 each
}

TEST(Tuned, PlansThatDoNotFitTheDeviceArePassedOver) {
  const TunedConfigs configs(
      parse_tuned("gemm/cuda/fma_tiles f32 64 64 65536 2 66\n"
                  "gemm/cuda/fma_tiles f32 64 64 64 99 1\n"
                  "gemm/cuda/fma_tiles f32 64 64 8192 2 33\n"));
  const Limits small = {.shared_bytes = 232448, .multiprocessors = 40};
  EXPECT_TRUE(nearest(configs, {64, 64, 65536}, small) == (GemmConfig{2, 33}));
  EXPECT_TRUE(nearest(configs, {64, 64, 64}) == (GemmConfig{2, 4}));  // tile 99 does not exist
}

TEST(Configs, AreThoseThatTheDeviceCanLaunch) {
  const GemmRung& rung = rung_of(split_k);
  const GemmSize deep = {64, 64, 65536};
  const Limits small = {.shared_bytes = 40 << 10, .multiprocessors = 40};
  const Configs found = configs(rung, Dtype::f32, deep, small);
  EXPECT_FALSE(found.possible.empty());
  for (const GemmConfig& config : found.possible) {
    EXPECT_EQ(why_not(rung, Dtype::f32, deep, config, small), "");
    EXPECT_LE(config.splits, 40);
  }
  EXPECT_EQ(
      found.refused.count("66 splits of k must be resident at once; at most 40 can be, one per SM"),
      1u);
}

TEST(Configs, OfARungThatDoesNotSplitAreItsTiles) {
  const GemmRung& rung = rung_of("gemm/cuda/10_tuned_tiles");
  const Configs found = configs(rung, Dtype::f32, {64, 64, 65536}, h200);
  EXPECT_EQ(found.possible.size(), tiles_of(rung, Dtype::f32).size());
  EXPECT_TRUE(found.refused.empty());
}

constexpr std::string_view last_waves = "gemm/cuda/wgmma_tiles";

GemmConfig modelled(const TunedConfigs& configs, const GemmSize& size,
                    const Limits& limits = h200) {
  return configs.nearest(rung_of(last_waves), last_waves, Dtype::bf16, size, limits);
}

TEST(Configs, OfPersistentBlocksCutTheTilesOfTheLastWave) {
  // 544 tiles of 128 x 256: four waves on 132 SMs, and 16 more tiles.
  const Configs found = configs(rung_of(last_waves), Dtype::bf16, {4088, 4104, 4000}, h200);
  int most = 0;
  for (const GemmConfig& config : found.possible) {
    const TileShape& tile =
        tiles_of(rung_of(last_waves), Dtype::bf16)[static_cast<std::size_t>(config.tile)];
    if (tile.BM == 128 && tile.BN == 256 && tile.cluster == 1) most = std::max(most, config.splits);
  }
  EXPECT_EQ(most, 8);
}

/// These lines, with the models that are part of Rung.
TunedConfigs with_models(std::string_view lines) {
  const TunedConfigs all = TunedConfigs::of_device("a device without a cache");
  return TunedConfigs(parse_tuned(lines), all.models());
}

TEST(WaveModel, FillsTheDevice) {
  const GemmRung& rung = rung_of(last_waves);
  for (const GemmSize& size : {GemmSize{64, 64, 65536}, GemmSize{16, 4096, 4096},
                               GemmSize{4096, 16, 4096}, GemmSize{256, 256, 16384}}) {
    const GemmConfig config = modelled(with_models(""), size);
    const TileShape& tile = tiles_of(rung, Dtype::bf16)[static_cast<std::size_t>(config.tile)];
    const auto blocks =
        config.splits * ((size.m + tile.BM - 1) / tile.BM) * ((size.n + tile.BN - 1) / tile.BN);
    EXPECT_GE(blocks, 60) << size.m << " x " << size.n << " x " << size.k;
    EXPECT_LE(blocks, 132) << size.m << " x " << size.n << " x " << size.k;
    EXPECT_EQ(why_not(rung, Dtype::bf16, size, config, h200), "");
  }
}

// A tile without constants is never chosen.
TEST(WaveModel, KnowsEachTileOfEachType) {
  const TunedConfigs configs = with_models("");
  for (const std::string_view id : {last_waves, std::string_view("gemm/cuda/ping_pong")}) {
    for (const Dtype dtype : all_dtypes) {
      const auto tiles = tiles_of(rung_of(id), dtype);
      for (int tile = 0; tile < std::ssize(tiles); ++tile) {
        const double expected = predicted_microseconds(
            *configs.models().wave_model(id), rung_of(id), dtype, {640, 640, 640}, {tile}, h200);
        EXPECT_TRUE(std::isfinite(expected)) << id << ' ' << name(dtype) << ' ' << tile;
      }
    }
  }
}

// On an H200, 192 x 7232 x 3264 takes 17.2 us with 114 tiles of 64 x 192 (one wave) and at least
// 24.1 us with 171 tiles of 64 x 128; 576 x 1600 x 6080 takes 24.4 us with tiles of 64 x 128, and
// 33.3 us with pairs of them.
TEST(WaveModel, FewTilesFillOneWave) {
  const auto chosen = [&](const GemmSize& size) {
    const GemmConfig config =
        with_models("").nearest(rung_of(last_waves), last_waves, Dtype::bf16_bf16, size, h200);
    return tiles_of(rung_of(last_waves), Dtype::bf16_bf16)[static_cast<std::size_t>(config.tile)];
  };
  EXPECT_EQ(chosen({192, 7232, 3264}).BM, 64);
  EXPECT_EQ(chosen({192, 7232, 3264}).BN, 192);
  EXPECT_EQ(chosen({576, 1600, 6080}).BN, 128);
  EXPECT_EQ(chosen({576, 1600, 6080}).cluster, 1);
}

TEST(WaveModel, DoesNotCutWhatFillsTheDeviceAnyway) {
  EXPECT_EQ(modelled(with_models(""), {4096, 4096, 4096}).splits, 1);
  EXPECT_EQ(modelled(with_models(""), {8192, 8192, 64}).splits, 1);
  EXPECT_EQ(modelled(with_models(""), {64, 64, 64}).splits, 1);
}

TEST(WaveModel, LargeShapesGetLargeTiles) {
  const GemmConfig config = modelled(with_models(""), {9000, 9000, 9000});
  const TileShape& tile =
      tiles_of(rung_of(last_waves), Dtype::bf16)[static_cast<std::size_t>(config.tile)];
  EXPECT_GE(tile.BM * tile.BN, 128 * 128);
}

// On an H200, 64 x 256 took 760 us, cuBLAS 343 us: rows of 23344 bytes start at odd multiples of 16
// bytes, and L2 delivers tiles of them at two thirds of its bandwidth.
TEST(WaveModel, OddRowsGetTilesThatLoadLess) {
  const TunedConfigs configs = with_models("");
  const auto bytes_per_product = [&](const OddRows& odd_rows) {
    const GemmConfig config = configs.nearest(rung_of(last_waves), last_waves, Dtype::bf16,
                                              {2096, 4880, 11672}, h200, Copies::fast, odd_rows);
    const TileShape& tile =
        tiles_of(rung_of(last_waves), Dtype::bf16)[static_cast<std::size_t>(config.tile)];
    return 1.0 / (tile.BM * tile.cluster) + 1.0 / tile.BN;
  };
  EXPECT_LT(bytes_per_product({true, true}), 0.6 * bytes_per_product({}));
}

TEST(WaveModel, OddRowsOfOneOperandCountAlone) {
  const TunedConfigs configs = with_models("");
  const WaveModel& model = *configs.models().wave_model(last_waves);
  const auto expected = [&](const OddRows& odd_rows) {
    return predicted_microseconds(model, rung_of(last_waves), Dtype::bf16, {8192, 16, 8192},
                                  {.tile = 5}, h200, odd_rows);
  };
  EXPECT_LT(expected({}), expected({false, true}));
  EXPECT_LT(expected({false, true}), expected({true, false}));
  EXPECT_LT(expected({true, false}), expected({true, true}));
}

// On an H200, 5064 x 15608 x 8 took 106 us with tiles of 128 columns and alternating consumers, and
// 84 us with tiles of 256: rows of 31216 bytes end within lines of L2, and C does not stay there.
TEST(WaveModel, CutLinesOfCGetWideTiles) {
  const TunedConfigs configs = with_models("");
  const auto expected = [&](std::string_view id, int tile, const GemmSize& size) {
    return predicted_microseconds(*configs.models().wave_model(id), rung_of(id), Dtype::bf16_bf16,
                                  size, {.tile = tile}, h200);
  };
  const std::string_view in_turns = "gemm/cuda/ping_pong";
  const GemmSize cut = {5064, 15608, 8}, whole = {5064, 15616, 8}, small = {1600, 10920, 32};
  EXPECT_LT(1.1 * expected(last_waves, 6, cut), expected(in_turns, 0, cut));
  EXPECT_LT(expected(in_turns, 0, whole), expected(last_waves, 6, whole));
  EXPECT_LT(expected(in_turns, 0, small), expected(last_waves, 6, small));
}

TEST(WaveModel, HeedsTheDevice) {
  const Limits few = {.shared_bytes = 232448, .multiprocessors = 4};
  EXPECT_LE(modelled(with_models(""), {64, 64, 65536}, few).splits, 4);
  const Limits none = {.shared_bytes = 1024, .multiprocessors = 4};
  EXPECT_TRUE(modelled(with_models(""), {64, 64, 65536}, none) == GemmConfig{});
}

TEST(WaveModel, AMeasuredShapeOfAsManyTilesComesFirst) {
  const TunedConfigs configs = with_models("gemm/cuda/wgmma_tiles bf16 4096 4096 4096 7 3\n");
  EXPECT_TRUE(modelled(configs, {4096, 4096, 4096}) == (GemmConfig{7, 3}));
  EXPECT_TRUE(modelled(configs, {4095, 4095, 4095}) == (GemmConfig{7, 3}));
  EXPECT_NE(modelled(configs, {4097, 4096, 4096}).tile, 7);
}

// Alternating consumers hide stores. That does not help if blocks have one tile each, and if k is
// split, SMs would be idle.
TEST(WaveModel, TakingTurnsPaysForSeveralTilesOfAShortK) {
  const TunedConfigs configs = with_models("");
  const auto is_faster = [&](const GemmSize& size) {
    const auto [m, n, k] = size;
    const GemmCall call = {.dtype = Dtype::bf16_bf16,
                           .m = m,
                           .n = n,
                           .k = k,
                           .alpha = 1,
                           .a = {nullptr, k, 1},
                           .b = {nullptr, 1, k},
                           .beta = 0,
                           .c = {nullptr, n, 1}};
    ConfiguredGemm gemm = configured_gemm(last_waves);
    gemm.config = configs.best(*gemm.rung, gemm.id, call, h200);
    const ConfiguredGemm chosen =
        configs.faster(gemm, configured_gemm("gemm/cuda/ping_pong"), call, h200);
    EXPECT_TRUE(chosen.id == gemm.id ? chosen.config == gemm.config : chosen.config.splits == 1);
    return chosen.id != gemm.id;
  };
  EXPECT_TRUE(is_faster({12672, 2688, 320}));
  EXPECT_TRUE(is_faster({2688, 8832, 1024}));
  EXPECT_FALSE(is_faster({1152, 1152, 320}));
  EXPECT_FALSE(is_faster({256, 256, 16384}));
}

// The same number of steps along k, 128 bytes each.
TEST(WaveModel, AsManyTilesDependsOnTheType) {
  const GemmRung& rung = rung_of(last_waves);
  const std::string where = std::string(last_waves) + " ";
  const TunedConfigs configs =
      with_models(where + "e4m3 64 64 256 1 1\n" + where + "tf32 64 64 256 1 1\n");
  const auto is_near = [&](Dtype dtype, std::int64_t k) {
    return configs.nearest(rung, last_waves, dtype, {64, 64, k}, h200).tile == 1;
  };
  EXPECT_TRUE(is_near(Dtype::e4m3, 129));
  EXPECT_FALSE(is_near(Dtype::e4m3, 128));
  EXPECT_TRUE(is_near(Dtype::tf32, 225));
  EXPECT_FALSE(is_near(Dtype::tf32, 224));
}

}  // namespace
}  // namespace rung::cuda
