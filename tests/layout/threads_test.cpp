// Questions that public threads ask about descriptors and swizzles, answered by the explorer.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/layout/tile.hpp"

namespace rung::layout {
namespace {

using vgpu::MatrixElement;
using vgpu::TensorSwizzle;

constexpr MatrixElement bf16 = MatrixElement::bf16;

Tile tile_of(int box_columns, int box_rows, TensorSwizzle swizzle, int inner, int outer) {
  Tile tile;
  tile.box = make_box(bf16, {box_columns, box_rows}, swizzle);
  tile.inner = inner;
  tile.outer = outer;
  return tile;
}

std::string first_cause(const Tile& tile, const Part& part, const Descriptor& descriptor) {
  const auto found = causes(tile, part, descriptor);
  return found.empty() ? "" : found.front();
}

// KnowingNothing/MatmulTutorial, issue 10: why are LBO 1 and SBO 64, in units of 16 bytes, with a
// swizzle of 128 bytes? SBO: 8 rows of 128 bytes are 64 units. LBO is not used.
TEST(Threads, MatmulTutorial10) {
  const Tile tile = tile_of(64, 128, TensorSwizzle::bytes_128, 64, 128);
  const Part part{bf16, false, 128, 16, 0};
  const std::uint64_t bits = 1ull << 62 | 64ull << 32 | 1ull << 16;
  EXPECT_EQ(compare(tile, part, vgpu::layout::decode(bits)).wrong, 0);
  EXPECT_EQ(encode(fitting(tile, part)), bits);
  for (const std::uint32_t leading : {0u, 128u, 4096u}) {
    Descriptor other = fitting(tile, part);
    other.leading = leading;
    EXPECT_EQ(compare(tile, part, other).wrong, 0) << "LBO is not used";
  }
  Descriptor wrong = fitting(tile, part);
  wrong.stride = 512;
  EXPECT_EQ(compare(tile, part, wrong).wrong, 240) << "all but the first group of 8 rows";
  EXPECT_EQ(first_cause(tile, part, wrong),
            "SBO is 512: the next 8 rows of A, or columns of B, are 1024 bytes further in this "
            "tile: SBO 1024");
}

/// The same layout in the terms: 64 rows of 512 elements in atoms of 8 x 64, first along
/// the columns; chunks of 16 bytes are swizzled within a row of an atom.
std::uint32_t atom_address(int row, int column) {
  const int chunk = column % 64 / 8 ^ row % 8;
  return static_cast<std::uint32_t>(row / 8 * 8192 + column / 64 * 1024 + row % 8 * 128 +
                                    chunk * 16);
}

// flashinfer, issue 1078: what do LBO and SBO mean for K and V, with heads of 512 and 64 rows? K is
// K-major: SBO 512 * 16 leads to the next 8 rows, LBO is not used. V is MN-major: LBO 64 * 16 leads
// to the next 64 columns, SBO to the next 8 rows, which are along k.
TEST(Threads, Flashinfer1078) {
  Descriptor k_major{0, 16, 512 * 16, 0, TensorSwizzle::bytes_128};
  for (int step = 0; step < 4; ++step) {
    k_major.start = static_cast<std::uint32_t>(32 * step);
    for (const auto& read : vgpu::layout::operand_chunks({k_major, bf16, 64, 16, false})) {
      ASSERT_EQ(read.address, atom_address(read.at[1], 16 * step + read.at[0]));
    }
  }
  const Descriptor mn_major{0, 64 * 16, 512 * 16, 0, TensorSwizzle::bytes_128};
  for (const auto& read : vgpu::layout::operand_chunks({mn_major, bf16, 256, 16, true})) {
    ASSERT_EQ(read.address, atom_address(read.at[0], read.at[1]));
  }
}

// NVIDIA/cutlass, issue 2872: the canonical layout ((8,m),(T,2)):((8T,SBO),(1,T)) seems interleaved
// by 8 rows, but a TMA box looks contiguous. Both are one layout: with SBO = 8 rows of 128 bytes,
// groups of 8 rows follow one another.
TEST(Threads, Cutlass2872) {
  const Tile tile = tile_of(64, 64, TensorSwizzle::bytes_128, 64, 64);
  std::map<std::uint32_t, std::pair<int, int>> raw;  // row and column by address
  for (const Chunk& chunk : tile.chunks()) raw[chunk.address] = {chunk.at[1], chunk.at[0]};
  ASSERT_EQ(raw.size(), 512u);
  for (const auto& [address, at] : raw) {
    EXPECT_EQ(address / 128, static_cast<std::uint32_t>(at.first)) << "row r is line r";
  }
  std::set<std::uint32_t> read;
  for (int step = 0; step < 4; ++step) {
    const Part part{bf16, false, 64, 16, 16 * step};
    const Descriptor canonical = fitting(tile, part);
    EXPECT_EQ(canonical.stride, 1024u);
    EXPECT_EQ(compare(tile, part, canonical).wrong, 0);
    for (const auto& chunk : vgpu::layout::operand_chunks({canonical, bf16, 64, 16, false})) {
      read.insert(chunk.address);
    }
  }
  EXPECT_EQ(read.size(), raw.size()) << "four k-steps read every chunk once";
}

// HazyResearch/ThunderKittens, issue 147: why is an element of a shared tile not at row * columns +
// column? A tile wider than the swizzle consists of boxes as wide as it, and the address is
// swizzled.
TEST(Threads, ThunderKittens147) {
  constexpr int rows = 64, columns = 192;
  for (const auto swizzle :
       {TensorSwizzle::bytes_32, TensorSwizzle::bytes_64, TensorSwizzle::bytes_128}) {
    const int span = static_cast<int>(span_of(swizzle)), wide = span / 2;
    const Tile tile = tile_of(wide, rows, swizzle, columns, rows);
    int chunks = 0;
    for (const Chunk& chunk : tile.chunks()) {
      const int row = chunk.at[1], column = chunk.at[0];
      const int plain = 2 * (column / wide * rows * wide + row * wide + column % wide);
      ASSERT_EQ(chunk.address, static_cast<std::uint32_t>(plain ^ plain % (8 * span) / 128 * 16));
      ++chunks;
    }
    EXPECT_EQ(chunks, rows * columns / 8);
  }
}

// The start of a k-step inside the swizzle span: 32 bytes further, although the swizzle moved the
// chunks, because it applies to the whole address.
TEST(Threads, AdvanceAlongKInsideTheAtom) {
  const Tile tile = tile_of(64, 128, TensorSwizzle::bytes_128, 128, 128);
  for (int step = 0; step < 8; ++step) {
    const Part part{bf16, false, 128, 16, 16 * step};
    const Descriptor fits = fitting(tile, part);
    EXPECT_EQ(fits.start, step < 4 ? 32u * static_cast<unsigned>(step)
                                   : 16384u + 32u * static_cast<unsigned>(step - 4));
    EXPECT_EQ(compare(tile, part, fits).wrong, 0);
    Descriptor late = fits;
    late.start += 1024;
    EXPECT_NE(first_cause(tile, part, late).find("start is"), std::string::npos);
  }
}

TEST(Causes, ASwizzleThatIsNotTheBoxs) {
  const Tile tile = tile_of(64, 64, TensorSwizzle::bytes_128, 64, 64);
  const Part part{bf16, false, 64, 16, 16};
  for (const auto swizzle :
       {TensorSwizzle::none, TensorSwizzle::bytes_32, TensorSwizzle::bytes_64}) {
    Descriptor wrong = fitting(tile, part);
    wrong.swizzle = swizzle;
    EXPECT_GT(compare(tile, part, wrong).wrong, 0);
    EXPECT_EQ(first_cause(tile, part, wrong),
              "the descriptor has " + text_of(swizzle) +
                  ", but the boxes were written with swizzle 128 B");
  }
}

TEST(Causes, WideRowsWithoutASwizzleFitNoDescriptor) {
  const Tile tile = tile_of(64, 64, TensorSwizzle::none, 64, 64);
  const Part part{bf16, false, 64, 16, 0};
  EXPECT_EQ(first_cause(tile, part, fitting(tile, part)).find("no descriptor reads this tile"), 0u);
  const Tile narrow = tile_of(8, 64, TensorSwizzle::none, 64, 64);
  EXPECT_EQ(compare(narrow, part, fitting(narrow, part)).wrong, 0);
}

TEST(Causes, MnMajorNeedsBothOffsets) {
  for (const auto swizzle : {TensorSwizzle::none, TensorSwizzle::bytes_32, TensorSwizzle::bytes_64,
                             TensorSwizzle::bytes_128}) {
    const int wide = std::max(16, static_cast<int>(span_of(swizzle))) / 2;
    const Tile tile = tile_of(wide, 64, swizzle, 128, 64);
    for (int step = 0; step < 4; ++step) {
      const Part part{bf16, true, 128, 16, 16 * step};
      const Descriptor fits = fitting(tile, part);
      EXPECT_EQ(compare(tile, part, fits).wrong, 0) << span_of(swizzle) << " " << step;
      Descriptor exchanged = fits;
      std::swap(exchanged.leading, exchanged.stride);
      EXPECT_EQ(causes(tile, part, exchanged).size(), 2u) << "neither alone";
    }
  }
}

}  // namespace
}  // namespace rung::layout
