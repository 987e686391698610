// The cost model of independent blocks: its file format, its predictions, and the configurations
// that it chooses.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "backends/rungs/cuda.hpp"
#include "select/cuda/models.hpp"
#include "select/cuda/operands.hpp"
#include "select/cuda/tuned.hpp"

namespace rung::cuda {
namespace {

constexpr std::string_view split_k = "gemm/cuda/fma_tiles";
constexpr std::string_view f64_mma = "gemm/cuda/mma_f64_warp_specialized";
constexpr Limits h200 = {.shared_bytes = 232448, .multiprocessors = 132};

const TunedConfigs& data() {
  static const TunedConfigs all = TunedConfigs::of_device("a device without a cache");
  return all;
}

GemmConfig chosen(std::string_view id, Dtype dtype, const GemmSize& size,
                  const Limits& limits = h200) {
  return data().nearest(*find_gemm_rung(id), id, dtype, size, limits);
}

std::int64_t blocks(std::string_view id, Dtype dtype, const GemmSize& size,
                    const GemmConfig& config) {
  const TileShape& tile =
      tiles_of(*find_gemm_rung(id), dtype)[static_cast<std::size_t>(config.tile)];
  return (size.m + tile.BM - 1) / tile.BM * ((size.n + tile.BN - 1) / tile.BN) * config.splits;
}

/// A model in which a k-block takes a microsecond, and everything else no time.
BlockModel only_k_blocks() {
  const std::string text =
      "launch gemm/cuda/fma_tiles f32 0 1e30 1e30 0 0 1e30 0 1e30\n"
      "tile 1 1 0.5 0 1 1 1\ntile 2 1 0.75 0 2 3 4\n";
  return parse_cost_models(text).blocks.front();
}

double expected(const GemmSize& size, const GemmConfig& config, Copies copies = Copies::fast) {
  return predicted_microseconds(only_k_blocks(), *find_gemm_rung(split_k), size, copies, config,
                                h200);
}

TEST(BlockModel, LinesAreRead) {
  const auto models = parse_cost_models(
                          "# a comment\nlaunch gemm/cuda/fma_tiles f32 2 3e6 4e6 5 6 7e6 "
                          "8 9e6 0.5\ntile 3 0.5 0.25 1 1.5 1.25 1.75\n"
                          "launch gemm/cuda/mma_f64_warp_specialized f64 1 1 1 1 1 1 1 1\n")
                          .blocks;
  ASSERT_EQ(models.size(), 2u);
  EXPECT_EQ(models[0].rung, split_k);
  EXPECT_EQ(models[0].dtype, Dtype::f32);
  EXPECT_EQ(models[0].exchange, 7e6);
  EXPECT_EQ(models[0].copy, 8);
  EXPECT_EQ(models[0].packing, 9e6);
  EXPECT_EQ(models[0].excess, 0.5);
  EXPECT_EQ(models[1].excess, 0);  // older files lack it
  ASSERT_EQ(models[0].tiles.size(), 1u);
  EXPECT_EQ(models[0].tiles[0].resident, 3);
  EXPECT_EQ(models[0].tiles[0].slower, (std::array{1.5, 1.25, 1.75}));
  EXPECT_EQ(models[1].dtype, Dtype::f64);
}

TEST(BlockModel, BadLinesAreNamed) {
  for (const std::string line : {
           "tile 3 0.5 0.25 1 1.5 1.5 1.5",                       // of no model
           "launch gemm/cuda/fma_tiles f32 2 3 4 5 6 7 8",        // one short
           "launch gemm/cuda/fma_tiles f32 2 3 4 5 6 7 8 9 x",    // no number
           "launch gemm/cuda/fma_tiles f32 2 3 4 5 6 7 8 9 1 1",  // one too many
           "launch gemm/cuda/fma_tiles f23 2 3 4 5 6 7 8 9",      // no such type
           "launch gemm/cuda/fma_tiles f32 2 0 4 5 6 7 8 9",      // a rate of zero
           "start gemm/cuda/fma_tiles f32 2 3 4 5 6 7 8 9",       // no such line
       }) {
    try {
      parse_cost_models("# a comment\n" + line + "\n");
      FAIL() << line;
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find("'" + line + "'"), std::string::npos);
    }
  }
}

TEST(BlockModel, BlocksRunInWaves) {
  // 128 x 256 x 8, one block per SM: 132 tiles are one wave, one more needs a second wave.
  EXPECT_DOUBLE_EQ(expected({128, 132 * 256, 80}, {0, 1}), 10);
  EXPECT_DOUBLE_EQ(expected({128, 133 * 256, 80}, {0, 1}), 20);
  EXPECT_DOUBLE_EQ(expected({1, 1, 80}, {0, 2}), 5);
  // The tile after the wave is split: its splits form a wave that takes a fifth of the time.
  EXPECT_DOUBLE_EQ(expected({128, 133 * 256, 80}, {0, 5, 132}), 12);
}

TEST(BlockModel, BlocksOnAnSmShareItsPipes) {
  // 64 x 128 x 16, two blocks per SM: a single block is limited by latency, two by throughput.
  EXPECT_DOUBLE_EQ(expected({64, 132 * 128, 160}, {1, 1}), 10);
  EXPECT_DOUBLE_EQ(expected({64, 264 * 128, 160}, {1, 1}), 15);
  EXPECT_DOUBLE_EQ(expected({64, 264 * 128, 160}, {1, 1}, Copies::both_k_major), 30);
  EXPECT_DOUBLE_EQ(expected({64, 264 * 128, 160}, {1, 1}, Copies::slow), 60);
}

TEST(BlockModel, ALastWaveIsUneven) {
  // The same tile, with as many blocks beyond a wave as the device has SMs; one SM then has 1.5.
  BlockModel model = only_k_blocks();
  model.excess = 1;
  const auto expected = [&](std::int64_t tiles, const GemmConfig& config) {
    return predicted_microseconds(model, *find_gemm_rung(split_k), {64, tiles * 128, 160},
                                  Copies::fast, config, h200);
  };
  EXPECT_DOUBLE_EQ(expected(132, {1, 1}), 10);  // no wave precedes them
  EXPECT_DOUBLE_EQ(expected(264, {1, 1}), 15);
  EXPECT_DOUBLE_EQ(expected(264 + 132, {1, 1}), 15 + 11.25);
  EXPECT_DOUBLE_EQ(expected(264 + 263, {1, 1}), 15 + 15);
  // The last wave, in two splits, fills all SMs.
  EXPECT_DOUBLE_EQ(expected(264 + 132, {1, 2, 264}), 15 + 7.5);
}

TEST(BlockModel, TheDataDescribeEveryTile) {
  for (const BlockModel& model : data().models().blocks) {
    const GemmRung* const rung = find_gemm_rung(model.rung);
    ASSERT_NE(rung, nullptr) << model.rung;
    EXPECT_EQ(model.tiles.size(), tiles_of(*rung, model.dtype).size()) << model.rung;
  }
  EXPECT_FALSE(data().models().blocks.empty());
}

TEST(BlockModel, FillsTheDevice) {
  for (const auto& [id, dtype] : {std::pair(split_k, Dtype::f32), std::pair(f64_mma, Dtype::f64)}) {
    // Few tiles and a long k: split-K provides the blocks.
    const GemmSize deep = {130, 130, 20000};
    EXPECT_GE(blocks(id, dtype, deep, chosen(id, dtype, deep)), 100) << id;
    // Many tiles: the largest tile, with k split only for the last wave.
    const GemmSize large = {9000, 9001, 9000};
    const GemmConfig config = chosen(id, dtype, large);
    EXPECT_LE(config.tile, 1) << id;
    EXPECT_TRUE(config.splits == 1 || config.whole > 0) << id;
    // A short k is not split.
    EXPECT_EQ(chosen(id, dtype, {130, 130, 8}).splits, 1) << id;
  }
}

TEST(BlockModel, CutsTheLastWaveAlone) {
  // 143 tiles of 128 x 256, eleven more than SMs. Splitting all of them would need too large a
  // workspace.
  const GemmSize size = {1600, 2752, 11776};
  const GemmConfig config = chosen(split_k, Dtype::f32, size);
  EXPECT_GT(config.whole, 0);
  EXPECT_GT(config.splits, 1);
  EXPECT_EQ(why_not(*find_gemm_rung(split_k), Dtype::f32, size, config, h200), "");
}

TEST(BlockModel, HeedsTheWorkspace) {
  const GemmSize size = {130, 130, 20000};
  Limits limits = h200;
  EXPECT_GT(chosen(split_k, Dtype::f32, size, limits).splits, 4);
  limits.workspace_bytes = 0;
  EXPECT_EQ(chosen(split_k, Dtype::f32, size, limits).splits, 1);
}

TEST(BlockModel, HeedsTheDevice) {
  const GemmSize size = {130, 130, 20000};
  const Limits small = {.shared_bytes = 232448, .multiprocessors = 4};
  EXPECT_LE(chosen(split_k, Dtype::f32, size, small).splits, 4);
  const Limits narrow = {.shared_bytes = 49152, .multiprocessors = 132};
  const GemmConfig config = chosen(f64_mma, Dtype::f64, {9000, 9001, 9000}, narrow);
  EXPECT_LE(tiles_of(*find_gemm_rung(f64_mma), Dtype::f64)[static_cast<std::size_t>(config.tile)]
                .shared_bytes,
            narrow.shared_bytes);
}

TEST(BlockModel, KnowsHowOperandsAreCopied) {
  alignas(16) float data[16] = {};
  const GemmRung& rung = *find_gemm_rung(split_k);
  GemmCall call = {};
  call.dtype = Dtype::f32;
  call.m = call.n = call.k = 8;
  call.a = {data, 8, 1};
  call.b = {data, 8, 1};
  EXPECT_EQ(copies_of(rung, call), Copies::fast);
  call.b = {data, 1, 8};  // K-major
  EXPECT_EQ(copies_of(rung, call), Copies::both_k_major);
  call.a = {data, 1, 8};
  EXPECT_EQ(copies_of(rung, call), Copies::b_k_major);
  call.b = {data, 1, 9};
  EXPECT_EQ(copies_of(rung, call), Copies::slow);
  call.b = {data, 9, 1};
  EXPECT_EQ(copies_of(rung, call), Copies::slow);
}

TEST(BlockModel, KnowsWhichOperandsHaveFastCopies) {
  alignas(16) float data[16] = {};
  GemmCall call = {};
  call.dtype = Dtype::f32;
  call.m = call.n = call.k = 8;
  call.a = {data, 8, 1};
  call.b = {data, 8, 1};
  EXPECT_TRUE(has_fast_copies(*find_gemm_rung(split_k), call));
  call.a = {data, 1, 8};  // MN-major
  EXPECT_TRUE(has_fast_copies(*find_gemm_rung(split_k), call));
  call.a = {data, 1, 9};
  EXPECT_FALSE(has_fast_copies(*find_gemm_rung(split_k), call));
  call.a = {data, 9, 1};  // element by element, so alignment does not matter
  EXPECT_TRUE(has_fast_copies(*find_gemm_rung(split_k), call));
  call.b = {data, 9, 1};
  EXPECT_FALSE(has_fast_copies(*find_gemm_rung(split_k), call));
  call.b = {data + 1, 8, 1};
  EXPECT_FALSE(has_fast_copies(*find_gemm_rung(split_k), call));
  call.dtype = Dtype::f64;
  call.a = {data, 1, 8};
  call.b = {data, 8, 1};
  EXPECT_TRUE(has_fast_copies(*find_gemm_rung(f64_mma), call));
  call.a = {data, 1, 9};
  EXPECT_FALSE(has_fast_copies(*find_gemm_rung(f64_mma), call));
}

}  // namespace
}  // namespace rung::cuda
