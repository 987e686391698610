// The splits of k that skinny and skinny_mma choose, for shapes whose best splits were measured on an
// H200.

#include <gtest/gtest.h>

#include <string_view>

#include "backends/rungs/cuda.hpp"
#include "rung/types.hpp"

namespace rung::cuda {
namespace {

struct Shape {
  std::int64_t m, n, k;
  bool a_transposed, b_transposed;
};

template <class T>
GemmConfig chosen(const Shape& s, int multiprocessors = 132,
                  std::string_view rung = "gemm/cuda/skinny") {
  const Gemm<T> g = {s.m,
                     s.n,
                     s.k,
                     {},
                     {nullptr, s.a_transposed ? 1 : s.k, s.a_transposed ? s.m : 1},
                     {nullptr, s.b_transposed ? 1 : s.n, s.b_transposed ? s.k : 1},
                     {},
                     {nullptr, s.n, 1}};
  return find_gemm_rung(rung)->choices.of<T, T>()(g, multiprocessors);
}

int parts_of_54(const Shape& s) { return chosen<bfloat16>(s, 132, "gemm/cuda/skinny_mma").splits; }

TEST(SkinnyCost, BlocksTakeOneMultiprocessorEach) {
  // 11 tiles: 12 splits are 132 blocks. 14 splits took 37 % longer.
  EXPECT_EQ(chosen<float>({1, 690, 7263, false, true}), (GemmConfig{.tile = 0, .splits = 12}));
}

TEST(SkinnyCost, PartsAreOfOneLength) {
  // 12 k-blocks: with 11 splits, one has two k-blocks, which takes 16 % longer than 12 splits.
  EXPECT_EQ(12 % chosen<bfloat16>({1312, 2, 1416, true, false}).splits, 0);
}

TEST(SkinnyCost, FewTilesAreCutShort) {
  // 3 splits took 26 % longer than 8.
  EXPECT_GE(chosen<bfloat16>({128, 1, 1920, false, false}).splits, 6);
}

TEST(SkinnyCost, ManyTilesAreNotCut) {
  EXPECT_EQ(chosen<float>({15784, 1, 1864, false, true}).splits, 1);
  EXPECT_EQ(chosen<float>({2, 100000, 65536, false, true}).splits, 1);
}

TEST(SkinnyCost, DoublesAreReadAsFastWithoutVectors) {
  // 2 splits took 45 % longer than 1.
  EXPECT_EQ(chosen<double>({1, 12093, 460, false, false}).splits, 1);
}

TEST(SkinnyCost, ThreeRowsAreOneTile) {
  EXPECT_EQ(chosen<double>({3, 1000, 64, false, false}).tile, 1);    // of two rows
  EXPECT_EQ(chosen<float>({3, 1000, 64, false, false}).tile, 2);     // of four
  EXPECT_EQ(chosen<bfloat16>({3, 1000, 64, false, false}).tile, 1);  // of four
  EXPECT_EQ(tiles_of(*find_gemm_rung("gemm/cuda/skinny"), Dtype::bf16)[1].BM, 4);
}

TEST(SkinnyCost, BlocksOfSkinnyMmaAreOneWave) {
  // 64 tiles: 4 parts are 256 blocks, two on each multiprocessor. 5 parts took 32 % longer.
  EXPECT_EQ(parts_of_54({8, 8192, 8192, false, true}), 4);
  // 74 tiles: 4 splits took 44 % longer than 3.
  EXPECT_EQ(parts_of_54({8, 9384, 3704, false, true}), 3);
  // 8 tiles: 22 splits took 17 % longer.
  EXPECT_EQ(parts_of_54({8, 1024, 16384, false, true}), 16);
}

TEST(SkinnyCost, SplitsOfSkinnyMmaCanWaitForEachOther) {
  // They must run at the same time.
  EXPECT_LE(parts_of_54({8, 100, 1 << 20, false, true}), 132);
}

TEST(SkinnyCost, NothingIsNotCut) {
  EXPECT_EQ(chosen<float>({0, 1, 7000, false, false}).splits, 1);
  EXPECT_EQ(chosen<float>({1, 1, 0, false, false}).splits, 1);
  EXPECT_EQ(parts_of_54({0, 1, 7000, false, false}), 1);
}

}  // namespace
}  // namespace rung::cuda
