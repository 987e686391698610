// The tiles that a kernel used, from boxes and descriptors as the virtual GPU reports them.

#include "tools/layout/uses.hpp"

#include <gtest/gtest.h>

#include "tools/layout/tile.hpp"

namespace rung::layout {
namespace {

constexpr std::uint32_t at_copy = 0, at_multiply = 1;

std::vector<vgpu::Site> sites() {
  std::vector<vgpu::Site> sites(2);
  sites[at_copy].where = "tile.cu:31";
  sites[at_multiply].where = "tile.cu:44";
  return sites;
}

vgpu::LayoutUse box(std::uint32_t offset, int row, int column) {
  vgpu::LayoutUse use;
  use.site = at_copy;
  use.map = make_box(vgpu::MatrixElement::bf16, {64, 64}, vgpu::TensorSwizzle::bytes_128);
  use.at = {column, row};
  use.offset = offset;
  return use;
}

vgpu::LayoutUse operand(const Descriptor& descriptor, bool transposed = false) {
  vgpu::LayoutUse use;
  use.site = at_multiply;
  use.operand = 'B';
  use.descriptor = encode(descriptor);
  use.element = vgpu::MatrixElement::bf16;
  use.lines = 64;
  use.k = 16;
  use.transposed = transposed;
  return use;
}

TEST(Uses, AnOperandIsPartOfTheTensor) {
  const std::vector uses = {box(1024, 128, 64),
                            operand({1024 + 32, 16, 1024, 0, vgpu::TensorSwizzle::bytes_128}),
                            operand({1024 + 32, 16, 1024, 0, vgpu::TensorSwizzle::bytes_128})};
  const auto tiles = used_tiles(uses, sites());
  ASSERT_EQ(tiles.size(), 2u);
  EXPECT_EQ(tiles[0].what, "box of 64 x 64 bf16, swizzle 128 B, at byte 1024");
  EXPECT_EQ(tiles[1].where, "tile.cu:44");
  EXPECT_EQ(tiles[1].count, 2);
  EXPECT_TRUE(tiles[1].fits);
  EXPECT_EQ(tiles[1].finding,
            "reads rows 128 to 191, columns 80 to 95 of the box from tile.cu:31: fits");
}

TEST(Uses, ASwizzleThatIsNotTheBoxs) {
  const std::vector uses = {box(0, 0, 0), operand({0, 16, 1024, 0, vgpu::TensorSwizzle::bytes_64})};
  const auto tiles = used_tiles(uses, sites());
  ASSERT_EQ(tiles.size(), 2u);
  EXPECT_FALSE(tiles[1].fits);
  EXPECT_EQ(tiles[1].finding.find("wrong: byte "), 0u) << tiles[1].finding;
  EXPECT_NE(tiles[1].finding.find("the box is from tile.cu:31, with swizzle 128 B; it fits with "
                                  "swizzle 128 B in the descriptor"),
            std::string::npos)
      << tiles[1].finding;
  EXPECT_EQ(tiles[1].cause, UsedTile::Cause::swizzle);
}

TEST(Uses, AStrideThatIsNotTheBoxs) {
  const std::vector uses = {box(0, 0, 0), operand({0, 16, 512, 0, vgpu::TensorSwizzle::bytes_128})};
  const auto tiles = used_tiles(uses, sites());
  EXPECT_EQ(tiles.at(1).cause, UsedTile::Cause::stride);
  EXPECT_NE(tiles[1].finding.find("; it fits with SBO 1024"), std::string::npos);
}

TEST(Uses, MnMajorReadsColumns) {
  const std::vector uses = {box(0, 0, 0),
                            operand({2048, 8192, 1024, 0, vgpu::TensorSwizzle::bytes_128}, true)};
  EXPECT_EQ(used_tiles(uses, sites()).at(1).finding,
            "reads rows 16 to 31, columns 0 to 63 of the box from tile.cu:31: fits");
}

TEST(Uses, MemoryThatNoCopyWrote) {
  const std::vector uses = {operand({0, 16, 1024, 0, vgpu::TensorSwizzle::bytes_128})};
  EXPECT_EQ(used_tiles(uses, sites()).at(0).finding,
            "byte 0 (column 0, k 0) was not written by a TMA copy");
}

}  // namespace
}  // namespace rung::layout
