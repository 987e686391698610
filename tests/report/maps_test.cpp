// Maps of memory accesses, for accesses constructed here.

#include <gtest/gtest.h>

#include "occurrences.hpp"
#include "tools/analysis/rung_trace/access_recorder.hpp"
#include "tools/report/maps/access_map.hpp"
#include "tools/report/maps/tile_picture.hpp"

namespace rung {
namespace {

using vgpu::WarpAccess;

WarpAccess access(bool shared, std::uint32_t bytes, std::uint64_t stride, int units) {
  WarpAccess access;
  access.shared = shared;
  access.load = true;
  access.lanes = 0xFFFFFFFFu;
  access.bytes = bytes;
  access.units = units;
  for (std::uint64_t lane = 0; lane < 32; ++lane) access.address[lane] = 1024 + stride * lane;
  return access;
}

TEST(Waste, IsOverTheLeastThatTheBytesNeed) {
  EXPECT_DOUBLE_EQ(waste(access(false, 4, 4, 4)), 1);
  EXPECT_DOUBLE_EQ(waste(access(false, 4, 2048, 32)), 8);
  EXPECT_DOUBLE_EQ(waste(access(true, 4, 128, 32)), 32);
  EXPECT_DOUBLE_EQ(waste(access(true, 16, 16, 4)), 1);
  EXPECT_DOUBLE_EQ(waste(access(true, 4, 0, 1)), 1);
}

TEST(AccessMap, ScatteredWordsFetchWholeSectors) {
  const Figure figure = access_map("m", access(false, 4, 2048, 32), "x.cu:1");
  const std::string svg = figure.picture.in_page();
  EXPECT_EQ(count(svg, "class=\"tint blue\""), 32u);
  EXPECT_EQ(count(svg, "fetched, but not requested"), 32u);
  EXPECT_NE(figure.note.find("32 sectors of 32 bytes"), std::string::npos) << figure.note;
  ASSERT_EQ(figure.table.rows.size(), 32u);
  EXPECT_EQ(figure.table.rows[1][1].text, "2048");
}

TEST(AccessMap, BanksWithMoreThanTheirShareStandOut) {
  const auto orange = [](const WarpAccess& drawn) {
    return count(access_map("m", drawn, "").picture.in_page(), "tint orange");
  };
  EXPECT_EQ(orange(access(true, 4, 4, 1)), 0u);
  EXPECT_EQ(orange(access(true, 4, 128, 32)), 32u);
  // Four words from each bank, as many as 16 bytes per lane require.
  EXPECT_EQ(orange(access(true, 16, 16, 4)), 0u);
}

TEST(AccessMap, LanesThatShareAWordAreOneCell) {
  const Figure figure = access_map("m", access(true, 4, 0, 1), "");
  const std::string svg = figure.picture.in_page();
  EXPECT_EQ(count(svg, "tint blue"), 1u);
  EXPECT_NE(svg.find("lanes 0–31"), std::string::npos) << svg;
  EXPECT_NE(svg.find("32×"), std::string::npos);
}

/// Stores of a block of two warps, each with an 8 x 8 tile of C and one vector of two elements per
/// lane.
std::vector<WarpAccess> two_warps(std::uint64_t c, std::uint64_t ld) {
  std::vector<WarpAccess> stores;
  for (int warp = 0; warp < 2; ++warp) {
    WarpAccess store = access(false, 8, 0, 8);
    store.load = false;
    store.block = 5;
    store.warp = warp;
    for (std::uint64_t lane = 0; lane < 32; ++lane) {
      const std::uint64_t row = lane / 4;
      const std::uint64_t col = 8 * static_cast<std::uint64_t>(warp) + lane % 4 * 2;
      store.address[lane] = c + 4 * (row * ld + col);
    }
    stores.push_back(store);
  }
  WarpAccess other = stores[0];  // of the next block, below
  other.block = 6;
  for (std::uint64_t& address : other.address) address += 4 * 8 * ld;
  stores.push_back(other);
  WarpAccess elsewhere = stores[0];  // a workspace
  for (std::uint64_t& address : elsewhere.address) address += 1 << 20;
  stores.push_back(elsewhere);
  return stores;
}

TEST(TileMap, IsWhatTheBlockOfTheFirstElementStores) {
  constexpr std::uint64_t c = 4096, ld = 40;
  const auto tile = tile_map(two_warps(c, ld), {c, 16, 32, ld, 4});
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile->rows, 8);
  EXPECT_EQ(tile->cols, 16);
  EXPECT_EQ(tile->warps(), 2);
  EXPECT_EQ(tile->thread[0], 0);
  EXPECT_EQ(tile->thread[1], 0);
  EXPECT_EQ(tile->thread[2], 1);
  EXPECT_EQ(tile->thread[8], 32);
  EXPECT_EQ(tile->thread[16], 4);
  const TileMap::Extent warp = tile->extent(0, 31);
  EXPECT_EQ(warp.rows, 8);
  EXPECT_EQ(warp.cols, 8);
  EXPECT_EQ(warp.elements, 64);
  EXPECT_EQ(tile->extent(0, 0).elements, 2);
  const Figure figure = draw_tile_map("t", *tile);
  EXPECT_NE(figure.note.find("Block: 8 × 16 elements of C; warp 0 of 2: 8 × 8; thread 0: 1 × 2."),
            std::string::npos)
      << figure.note;
  EXPECT_EQ(count(figure.picture.in_page(), "solid orange"), 1u);
}

TEST(TileMap, NobodyStoresTheFirstElement) { EXPECT_FALSE(tile_map({}, {4096, 16, 32, 40, 4})); }

}  // namespace
}  // namespace rung
