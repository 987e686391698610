// The partitioning of blocks of C among threads, simulated for more cores than a test machine has.

#include "device/cpu/partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace rung::cpu {
namespace {

constexpr std::int64_t MR = 14, NR = 32;  // an f32 tile of AVX-512
constexpr std::int64_t L2_rows = 256;     // rows of a block of A that stays in L2

struct Shape {
  std::int64_t m, n;
};

struct Tiles {
  std::int64_t rows, cols;

  explicit Tiles(Shape shape) : rows(ceil_div(shape.m, MR)), cols(ceil_div(shape.n, NR)) {}
  TileBlock block(int threads) const {
    return balanced_block(rows, cols, std::max<std::int64_t>(1, L2_rows / MR), threads);
  }
};

/// The busiest thread's number of tiles divided by the mean, if each thread takes the next block
/// when it has finished one.
double imbalance(const Tiles& tiles, TileBlock block, int threads) {
  std::vector<double> busy(static_cast<std::size_t>(threads));
  for (std::int64_t j = 0; j < tiles.cols; j += block.cols) {
    for (std::int64_t i = 0; i < tiles.rows; i += block.rows) {
      *std::min_element(busy.begin(), busy.end()) += static_cast<double>(
          std::min(block.rows, tiles.rows - i) * std::min(block.cols, tiles.cols - j));
    }
  }
  const auto mean = static_cast<double>(tiles.rows * tiles.cols) / threads;
  return *std::max_element(busy.begin(), busy.end()) / mean;
}

constexpr Shape shapes[] = {{4096, 4096}, {2048, 2048}, {1024, 1024}, {512, 512},  {4096, 512},
                            {512, 4096},  {64, 4096},   {4096, 64},   {799, 755},  {1000, 100},
                            {100, 1000},  {128, 2816},  {2816, 128},  {640, 1216}, {2240, 192}};
constexpr int threads_of_machines[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};

TEST(Partition, TheBusiestThreadHasLittleMoreThanTheMean) {
  for (const Shape shape : shapes) {
    const Tiles tiles(shape);
    for (const int threads : threads_of_machines) {
      const auto count = tiles.rows * tiles.cols;
      if (count < 4 * threads) continue;
      const double bound = count < 16 * threads ? 1.45 : 1.25;
      const TileBlock block = tiles.block(threads);
      EXPECT_LE(imbalance(tiles, block, threads), bound)
          << shape.m << "x" << shape.n << " on " << threads << " threads: blocks of " << block.rows
          << " x " << block.cols << " tiles";
    }
  }
}

TEST(Partition, FewTilesAreABlockEach) {
  for (const int threads : {16, 64}) {
    const TileBlock block = Tiles({96, 144}).block(threads);  // 7 x 5 tiles
    const std::int64_t blocks = ceil_div(7, block.rows) * ceil_div(5, block.cols);
    EXPECT_GE(blocks, threads == 64 ? 35 : 12);
  }
}

TEST(Partition, OneThreadHasTheTallestBlocksThatFit) {
  const TileBlock block = Tiles({4096, 4096}).block(1);
  EXPECT_LE(block.rows, L2_rows / MR);
  EXPECT_GE(block.rows, L2_rows / MR - 3);
}

TEST(Partition, BlocksAreWithinTheirLimit) {
  for (std::int64_t rows = 1; rows < 60; ++rows) {
    for (std::int64_t cols = 1; cols < 60; cols += 7) {
      for (const int threads : threads_of_machines) {
        const TileBlock block = balanced_block(rows, cols, 18, threads);
        ASSERT_GE(block.rows, 1);
        ASSERT_GE(block.cols, 1);
        ASSERT_LE(block.rows, std::min<std::int64_t>(rows, 18));
        ASSERT_LE(block.cols, cols);
      }
    }
  }
}

// Assumes cores that run 16 FMAs of floats per cycle. 1.5 bytes per cycle for each of 64 cores are
// about 300 GB/s from all L3 caches together.
TEST(Partition, LargeProductsReadLittleFromOutsideTheirCores) {
  for (const std::int64_t size : {2048, 4096}) {
    for (const int threads : threads_of_machines) {
      const TileBlock block = Tiles({size, size}).block(threads);
      const auto rows = static_cast<double>(block.rows * MR);
      const auto cols = static_cast<double>(block.cols * NR);
      const double bytes_per_cycle = 16 * sizeof(float) * (1 / rows + 1 / cols);
      EXPECT_LE(bytes_per_cycle, 1.5) << size << " on " << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace rung::cpu
