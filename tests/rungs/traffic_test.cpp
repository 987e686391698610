// The model of L2 traffic that chooses among the wgmma kernels for operands of 16 bits.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "backends/rungs/cuda.hpp"
#include "rung/types.hpp"
#include "select/cuda/models.hpp"

namespace rung::cuda {
namespace {

constexpr Limits h200 = {.shared_bytes = 232448, .multiprocessors = 132};
constexpr std::string_view multicast = "gemm/cuda/wgmma_multicast";
constexpr std::string_view cluster_split = "gemm/cuda/wgmma_cluster_split";

/// A call with contiguous matrices. `layouts`: n or t for A and for B, as in BLAS.
GemmCall call_of(std::int64_t m, std::int64_t n, std::int64_t k, std::string_view layouts) {
  return {.dtype = Dtype::bf16_bf16,
          .m = m,
          .n = n,
          .k = k,
          .alpha = 1,
          .a = layouts[0] == 'n' ? AnyMatrix<const void*>{nullptr, k, 1}
                                 : AnyMatrix<const void*>{nullptr, 1, m},
          .b = layouts[1] == 'n' ? AnyMatrix<const void*>{nullptr, n, 1}
                                 : AnyMatrix<const void*>{nullptr, 1, k},
          .beta = 0,
          .c = {nullptr, n, 1}};
}

ConfiguredGemm chosen(const GemmCall& call, int tile, int splits = 1, const Limits& limits = h200) {
  return faster_by_traffic(
      configured_gemm("gemm/cuda/wgmma_tiles", {.tile = tile, .splits = splits}), call, limits);
}

TEST(TrafficModel, KnowsEveryTileOfItsRungs) {
  GemmCall call = call_of(640, 640, 640, "nt");
  for (const std::string_view id :
       {std::string_view("gemm/cuda/wgmma_tiles"), std::string_view("gemm/cuda/ping_pong"),
        multicast, cluster_split}) {
    for (const Dtype dtype : {Dtype::bf16, Dtype::f16, Dtype::bf16_bf16, Dtype::f16_f16}) {
      call.dtype = dtype;
      const auto tiles = tiles_of(*configured_gemm(id).rung, dtype);
      for (int tile = 0; tile < std::ssize(tiles); ++tile) {
        const double expected =
            traffic_microseconds(configured_gemm(id, {.tile = tile}), call, h200);
        EXPECT_TRUE(expected > 0 && std::isfinite(expected)) << id << ' ' << tile;
      }
      const int beyond = static_cast<int>(tiles.size());
      EXPECT_TRUE(
          std::isinf(traffic_microseconds(configured_gemm(id, {.tile = beyond}), call, h200)));
    }
  }
}

// On an H200 ping_pong takes 20.4 us for the first, tiles of 176 x 128 in pairs 17.7; for the second, tiles of 64
// x 192 take 11.3 us, and 120 tiles of 176 x 64 8.2 (results in f32).
TEST(TrafficModel, FillsAWaveWithTallTiles) {
  EXPECT_EQ(chosen(call_of(1030, 2560, 2048, "nt"), 1).id, multicast);
  GemmCall call = call_of(1030, 1280, 1280, "nt");
  call.dtype = Dtype::bf16;
  EXPECT_EQ(chosen(call, 10).id, multicast);
}

/// The rows of C in a tile.
int tile_rows(const ConfiguredGemm& gemm) {
  return tiles_of(*gemm.rung, Dtype::bf16_bf16)[static_cast<std::size_t>(gemm.config.tile)].BM;
}

// 257 and 513 rows: a tile may have any multiple of eight rows. On an H200 76.4 and 48.5 us before, 61.9 and
// 43.9 us by tiles of 144 and 104 rows.
TEST(TrafficModel, FitsTilesToAFewRowsBeyondAPowerOfTwo) {
  const ConfiguredGemm rows_257 = chosen(call_of(257, 14336, 4096, "nt"), 8);
  EXPECT_EQ(rows_257.id, multicast);
  EXPECT_LT(tile_rows(rows_257) * 2, 300);
  const ConfiguredGemm rows_513 = chosen(call_of(513, 9728, 2560, "nt"), 8);
  EXPECT_EQ(rows_513.id, multicast);
  EXPECT_NE(tile_rows(rows_513) % 64, 0);
}

// Few tiles with a deep k.
TEST(TrafficModel, DividesADeepKInClusters) {
  const ConfiguredGemm gemm = chosen(call_of(208, 1664, 7168, "nt"), 4, 3);
  EXPECT_EQ(gemm.id, cluster_split);
  EXPECT_GE(gemm.config.splits, 2);
  EXPECT_LE(gemm.config.splits, 8);
}

TEST(TrafficModel, KeepsChoicesForSizesItWasNotFittedTo) {
  // On an H200 at its power limit 1421 us with tiles of 128 x 256, 1525 us with ping_pong.
  EXPECT_EQ(chosen(call_of(8192, 8192, 8192, "nt"), 6).id, "gemm/cuda/wgmma_tiles");
  const GemmCall small = call_of(256, 256, 256, "nt");
  EXPECT_TRUE(chosen(small, 6).config == (GemmConfig{.tile = 6}));
}

TEST(TrafficModel, NeedsResultsThatTmaStores) {
  GemmCall call = call_of(4864, 336, 12216, "tt");
  call.beta = 1;
  EXPECT_EQ(chosen(call, 1).id, "gemm/cuda/wgmma_tiles");
  call.beta = 0;
  call.c.row_stride = 337;
  EXPECT_EQ(chosen(call, 1).id, "gemm/cuda/wgmma_tiles");
  call = call_of(4864, 336, 12216, "tt");
  call.dtype = Dtype::tf32;
  EXPECT_EQ(chosen(call, 1).id, "gemm/cuda/wgmma_tiles");
}

TEST(TrafficModel, SplitsOnlyWhereItMay) {
  // 6 tiles of 128 x 128 leave most SMs idle.
  const GemmCall call = call_of(256, 320, 16384, "nt");
  EXPECT_GT(chosen(call, 0).config.splits, 1);
  Limits whole = h200;
  whole.workspace_bytes = -1;
  EXPECT_EQ(chosen(call, 0, 1, whole).config.splits, 1);
  Limits few = h200;
  few.multiprocessors = 4;
  EXPECT_LE(chosen(call, 0, 1, few).config.splits, 4);
}

}  // namespace
}  // namespace rung::cuda
