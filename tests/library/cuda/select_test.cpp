// The rules for GPUs select a rung of the ladder that can run the problem, for any problem.

#include "select/cuda/select.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <string>

#include "core/rung.hpp"
#include "rung/error.hpp"
#include "select/cuda/tables.hpp"

namespace rung {
namespace {

TEST(CudaRules, NameRungsOfTheCatalogAndTheirTiles) {
  for (const CudaGemmRule& rule : tuned::cuda_gemm_rules) {
    const cuda::NamedGemmRung& named = cuda::gemm_rungs.at(static_cast<std::size_t>(rule.use));
    const auto found = select({std::string(named.id)});
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found.front()->compute_mode, rule.compute_mode) << named.id;
    EXPECT_LE(rule.alignment, 128);
  }
}

TEST(CudaRules, LastOneFitsEverything) {
  const CudaGemmRule& last = *std::rbegin(tuned::cuda_gemm_rules);
  for (const Dtype dtype : all_dtypes) EXPECT_TRUE(last.dtypes.has(dtype));
  for (const std::int64_t min : {last.min_m, last.min_n, last.min_k}) EXPECT_LE(min, 1);
  for (const std::int64_t max : {last.max_m, last.max_n, last.max_k}) EXPECT_EQ(max, any_size);
  EXPECT_LE(last.min_arch, 75);
  EXPECT_EQ(last.max_arch, any_arch);
  EXPECT_EQ(last.max_work, any_work);
  EXPECT_EQ(last.alignment, 1);
  EXPECT_FALSE(last.a || last.b);
  EXPECT_EQ(last.compute_mode, ComputeMode::standard);
}

constexpr Dtype for_tensor_cores[] = {Dtype::tf32, Dtype::i8,        Dtype::e4m3,
                                      Dtype::e5m2, Dtype::bf16_bf16, Dtype::f16_f16};

bool has_kernel(const CudaGemmShape& shape) {
  return visit(shape.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    return choose_cuda_gemm(shape).rung->launches.of<In, Out>() != nullptr;
  });
}

std::string refusal(const CudaGemmShape& shape) {
  try {
    refuse(shape);
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(CudaRules, TypesForTensorCoresAloneAreRefusedElsewhere) {
  for (const Dtype dtype : for_tensor_cores) {
    CudaGemmShape shape = {dtype, 100, 200, 300, Order::col_major, Order::row_major, 1, 90};
    EXPECT_TRUE(has_kernel(shape)) << name(dtype);
    // 22_stages and any_operands run on older GPUs.
    const bool has_others = dtype != Dtype::e4m3 && dtype != Dtype::e5m2;
    for (const int arch : {75, 80, 100}) {
      shape.arch = arch;
      EXPECT_EQ(has_kernel(shape), has_others && arch >= 80) << name(dtype);
    }
    if (has_others) continue;
    EXPECT_EQ(refusal(shape), "rung: gemm: no kernel for " + std::string(name(dtype)) +
                                  " on this GPU, sm_100; it needs sm_90");
  }
}

TEST(CudaRules, TypesReadAlongKNeedRoomForCopiesWhereTheyLieOtherwise) {
  CudaGemmShape shape = {.dtype = Dtype::e4m3,
                         .m = 100,
                         .n = 200,
                         .k = 300,
                         .a = Order::row_major,
                         .b = Order::col_major,
                         .alignment = 16,
                         .arch = 90,
                         .bytes_for_copies = 1000};
  EXPECT_TRUE(has_kernel(shape));
  shape.b = Order::row_major;
  EXPECT_FALSE(has_kernel(shape));
  const std::int64_t needed = bytes_for_copies(shape);
  EXPECT_NE(refusal(shape).find("it must have at least " + std::to_string(needed)),
            std::string::npos);
  shape.bytes_for_copies = needed;
  EXPECT_TRUE(has_kernel(shape));
}

GemmCall aligned_problem() {
  const auto at = [](std::uintptr_t address) { return reinterpret_cast<void*>(address); };
  return {Dtype::f32, 8, 8, 8, 1, {at(4096), 32, 1}, {at(512), 1, 64}, 0, {at(256), 96, 1}};
}

std::string_view chosen(const GemmCall& call) { return choose_cuda_gemm(call, 90).id; }

TEST(CudaRules, OperandsThatTmaCannotReadArePackedForLargeProductsOnly) {
  GemmCall g = aligned_problem();
  g.dtype = Dtype::bf16;
  g.m = g.n = g.k = 100;
  EXPECT_EQ(chosen(g), "gemm/cuda/wgmma_tiles");
  g.c.row_stride = 101;  // C may have any alignment
  EXPECT_EQ(chosen(g), "gemm/cuda/wgmma_tiles");
  g.a.row_stride = 101;
  EXPECT_EQ(chosen(g), "gemm/cuda/any_operands");
  g.m = g.n = g.k = 2000;
  EXPECT_EQ(chosen(g), "gemm/cuda/wgmma_tiles");
}

TEST(CudaRules, OperandsAreLoadedElementByElementForAShortSide) {
  GemmCall g = aligned_problem();
  g.dtype = Dtype::bf16;
  g.m = g.n = 9001;
  g.k = 128;
  g.a.row_stride = 129;
  EXPECT_EQ(chosen(g), "gemm/cuda/any_operands");
  g.k = 129;
  EXPECT_EQ(chosen(g), "gemm/cuda/wgmma_tiles");
  g.k = 128;
  g.n = 9008;  // TMA stores C
  EXPECT_EQ(chosen(g), "gemm/cuda/wgmma_tiles");
  g.k = 9001;
  g.m = 64;
  EXPECT_EQ(chosen(g), "gemm/cuda/any_operands");
  g.m = 65;
  EXPECT_EQ(chosen(g), "gemm/cuda/wgmma_tiles");
  g.m = 64;
  g.dtype = Dtype::i8;  // one byte at a time
  EXPECT_EQ(chosen(g), "gemm/cuda/wgmma_tiles");
}

TEST(CudaRules, SplitOnlyWhereItIsAskedForAndPays) {
  GemmCall g = aligned_problem();
  g.m = g.n = g.k = 2048;
  EXPECT_EQ(chosen(g), "gemm/cuda/fma_tiles");
  g.compute_mode = ComputeMode::split;
  EXPECT_EQ(chosen(g), "gemm/cuda/split_f16");
  EXPECT_EQ(choose_cuda_gemm(g, 80).id, "gemm/cuda/split_f16_mma");
  EXPECT_EQ(choose_cuda_gemm(g, 89).id, "gemm/cuda/fma_tiles");
  g.a.row_stride = 2049;  // any alignment: it is copied in any case
  EXPECT_EQ(chosen(g), "gemm/cuda/split_f16");
  g.k = 100;
  EXPECT_EQ(chosen(g), "gemm/cuda/fma_tiles");
  g.k = 2048;
  g.m = 1;
  EXPECT_EQ(chosen(g), "gemm/cuda/skinny");
  g.m = 2048;
  g.dtype = Dtype::bf16;
  EXPECT_EQ(chosen(g), "gemm/cuda/wgmma_tiles");
}

/// True if the product is split, with A and B row-major ('n') or column-major ('t').
bool splits(std::int64_t m, std::int64_t n, std::int64_t k, const char* layout) {
  const CudaGemmShape shape = {.dtype = Dtype::f32,
                               .m = m,
                               .n = n,
                               .k = k,
                               .a = layout[0] == 'n' ? Order::row_major : Order::col_major,
                               .b = layout[1] == 'n' ? Order::row_major : Order::col_major,
                               .alignment = 16,
                               .arch = 90,
                               .compute_mode = ComputeMode::split};
  return choose_cuda_gemm(shape).id == "gemm/cuda/split_f16";
}

TEST(CudaRules, SplittingPaysWhereTheModelSaysSo) {
  for (const char* layout : {"nn", "nt", "tn", "tt"}) {
    EXPECT_TRUE(splits(1024, 1024, 1024, layout)) << layout;  // as measured
    EXPECT_TRUE(splits(16384, 16384, 16384, layout)) << layout;
    EXPECT_TRUE(splits(512, 4096, 4096, layout)) << layout;
    EXPECT_FALSE(splits(512, 512, 1024, layout)) << layout;
    // Limited by memory bandwidth anyway.
    EXPECT_FALSE(splits(16, 100'000, 4096, layout)) << layout;
    EXPECT_FALSE(splits(8192, 8192, 1000, layout)) << layout;  // because of the error bound
  }
  for (const char* layout : {"nn", "nt", "tn"}) {  // as measured
    EXPECT_TRUE(splits(768, 1024, 1024, layout)) << layout;
    EXPECT_TRUE(splits(1536, 1536, 1536, layout)) << layout;
    EXPECT_TRUE(splits(384, 4096, 1024, layout)) << layout;
    EXPECT_TRUE(splits(512, 2048, 2048, layout)) << layout;
    EXPECT_TRUE(splits(256, 8192, 8192, layout)) << layout;
    EXPECT_TRUE(splits(1024, 512, 8192, layout)) << layout;
    EXPECT_TRUE(splits(1024, 1024, 16384, layout)) << layout;
    EXPECT_FALSE(splits(128, 4096, 2048, layout)) << layout;
    EXPECT_FALSE(splits(64, 8192, 4096, layout)) << layout;
  }
  EXPECT_TRUE(splits(512, 512, 4096, "nt"));
  EXPECT_FALSE(splits(512, 512, 4096, "tn"));  // few blocks split columns, each for a long time
  EXPECT_FALSE(splits(256, 1024, 4096, "nn"));
  EXPECT_FALSE(splits(128, 16384, 4096, "tn"));
}

TEST(CudaRules, DoublesAreSplitIntoResiduesWhereThatPays) {
  GemmCall g = aligned_problem();
  g.dtype = Dtype::f64;
  g.m = g.n = g.k = 4096;
  EXPECT_EQ(chosen(g), "gemm/cuda/mma_f64_warp_specialized");
  g.compute_mode = ComputeMode::split;
  EXPECT_EQ(chosen(g), "gemm/cuda/residues");
  EXPECT_EQ(choose_cuda_gemm(g, 80).id, "gemm/cuda/mma_f64");
  g.m = 4160, g.n = 4100, g.k = 2100;  // the last of five waves has a quarter of the tiles
  EXPECT_EQ(chosen(g), "gemm/cuda/mma_f64_warp_specialized");
  g.m = 5000, g.n = 4500, g.k = 3000;
  EXPECT_EQ(chosen(g), "gemm/cuda/residues");
  g.m = 4096, g.n = 8192, g.k = 2048;
  EXPECT_EQ(chosen(g), "gemm/cuda/residues");
  g.m = g.n = 4096;
  g.k = 100;
  EXPECT_EQ(chosen(g), "gemm/cuda/mma_f64_warp_specialized");
}

TEST(CudaRules, SplittingNeedsRoomForHalves) {
  CudaGemmShape shape = {.dtype = Dtype::f32,
                         .m = 1025,
                         .n = 2001,
                         .k = 1025,
                         .a = Order::row_major,
                         .b = Order::row_major,
                         .alignment = 16,
                         .arch = 90,
                         .compute_mode = ComputeMode::split};
  shape.bytes_for_copies = bytes_for_copies(shape) - 1;
  EXPECT_EQ(choose_cuda_gemm(shape).id, "gemm/cuda/fma_tiles");
  ++shape.bytes_for_copies;
  EXPECT_EQ(choose_cuda_gemm(shape).id, "gemm/cuda/split_f16");
}

TEST(CudaRules, FewRowsOrColumnsHaveARungOfTheirOwn) {
  GemmCall g = aligned_problem();
  g.n = 1;
  EXPECT_EQ(chosen(g), "gemm/cuda/skinny");
  g.n = 100;
  g.m = 1;
  EXPECT_EQ(chosen(g), "gemm/cuda/skinny");
  g.m = 4;
  EXPECT_EQ(chosen(g), "gemm/cuda/skinny");
  g.m = 100;
  g.k = 100;
  EXPECT_EQ(chosen(g), "gemm/cuda/fma_tiles");
}

TEST(CudaRules, EightRowsOrColumnsHaveItWhileAllBlocksRunAtTheSameTime) {
  GemmCall g = aligned_problem();
  g.m = 8;
  g.n = g.k = 8192;
  EXPECT_EQ(chosen(g), "gemm/cuda/skinny");
  g.m = 9;
  EXPECT_EQ(chosen(g), "gemm/cuda/fma_tiles");
  g.m = 8;
  g.n = 8200;
  EXPECT_EQ(chosen(g), "gemm/cuda/fma_tiles");
  g.m = 8192;
  g.n = 8;
  EXPECT_EQ(chosen(g), "gemm/cuda/skinny");
}

TEST(CudaRules, UnalignedRowsAndAShortKHaveRung52) {
  GemmCall g = aligned_problem();
  g.m = g.n = 128;
  g.k = 64;
  EXPECT_EQ(chosen(g), "gemm/cuda/fma_tiles");
  g.c.row_stride = 129;
  EXPECT_EQ(chosen(g), "gemm/cuda/rank_k");
  g.k = 65;
  EXPECT_EQ(chosen(g), "gemm/cuda/fma_tiles");
}

TEST(CudaRules, AShortKHasARungOfItsOwn) {
  GemmCall g = aligned_problem();
  g.m = g.n = 128;
  g.k = 32;
  EXPECT_EQ(chosen(g), "gemm/cuda/rank_k");
  g.k = 33;
  EXPECT_EQ(chosen(g), "gemm/cuda/fma_tiles");
  g.k = 9;
  EXPECT_EQ(chosen(g), "gemm/cuda/rank_k");
  g.k = 8;
  EXPECT_EQ(chosen(g), "gemm/cuda/short_k");
  g.dtype = Dtype::f64;
  EXPECT_EQ(chosen(g), "gemm/cuda/short_k");
  g.n = 127;
  EXPECT_EQ(chosen(g), "gemm/cuda/mma_f64_warp_specialized");
}

TEST(CudaRules, ALargeCHasItForALongerK) {
  GemmCall g = aligned_problem();
  g.m = g.n = 2000;
  g.k = 16;
  EXPECT_EQ(chosen(g), "gemm/cuda/short_k");
  g.k = 17;
  EXPECT_EQ(chosen(g), "gemm/cuda/rank_k");
}

TEST(CudaRules, AShortKWithUnalignedRowsHasOneInEveryType) {
  for (const Dtype dtype : {Dtype::bf16, Dtype::f16_f16, Dtype::tf32, Dtype::i8}) {
    GemmCall g = aligned_problem();
    g.dtype = dtype;
    g.m = g.n = 128;
    g.k = 16;
    EXPECT_EQ(chosen(g), "gemm/cuda/wgmma_tiles") << name(dtype);
    g.c.row_stride |= 1;  // of A and B, all rows are aligned
    EXPECT_EQ(chosen(g), "gemm/cuda/short_k") << name(dtype);
    g.k = 17;
    EXPECT_EQ(chosen(g), "gemm/cuda/wgmma_tiles") << name(dtype);
  }
}

TEST(CudaRules, ALargeCOf32BitsAndAShortKHasItWithAlignedRows) {
  GemmCall g = aligned_problem();
  g.dtype = Dtype::bf16;
  g.m = g.n = 2000;
  g.k = 8;
  EXPECT_EQ(chosen(g), "gemm/cuda/short_k");
  g.m = 1000;  // 8 MB
  EXPECT_EQ(chosen(g), "gemm/cuda/wgmma_tiles");
  g.m = 2000;
  g.dtype = Dtype::bf16_bf16;
  EXPECT_EQ(chosen(g), "gemm/cuda/wgmma_tiles");
}

TEST(CudaRules, FewRowsThatTmaCannotReadGoFromMemoryToTensorCores) {
  for (const Dtype dtype : {Dtype::bf16, Dtype::f16_f16, Dtype::tf32}) {
    GemmCall g = aligned_problem();
    g.dtype = dtype;
    g.m = 16;
    g.n = 20'000;
    g.k = 128;
    g.a.row_stride |= 1;
    EXPECT_EQ(chosen(g), "gemm/cuda/skinny_mma") << name(dtype);
    g.m = 17;
    EXPECT_EQ(chosen(g), "gemm/cuda/any_operands") << name(dtype);
    g.m = 5;
    EXPECT_EQ(chosen(g), "gemm/cuda/skinny_mma") << name(dtype);
    g.k = 127;
    EXPECT_EQ(chosen(g), "gemm/cuda/skinny") << name(dtype);
    g.k = 128;
    g.n = 5000;  // too little
    EXPECT_EQ(chosen(g), "gemm/cuda/skinny") << name(dtype);
  }
}

TEST(CudaRules, UpToFourRowsOfSingleElementsDoNot) {
  GemmCall g = aligned_problem();
  g.dtype = Dtype::bf16;
  g.m = 4;
  g.n = 20'000;
  g.k = 128;
  g.a.row_stride |= 1;
  EXPECT_EQ(chosen(g), "gemm/cuda/skinny");
  g.a.row_stride += 1;  // words of two
  EXPECT_EQ(chosen(g), "gemm/cuda/skinny_mma");
}

TEST(CudaRules, FewRowsOfBytesGoThereInWordsAlone) {
  GemmCall g = aligned_problem();
  g.dtype = Dtype::i8;
  g.m = 16;
  g.n = g.k = 1000;
  g.b.col_stride = 1004;
  EXPECT_EQ(chosen(g), "gemm/cuda/skinny_mma");
  g.k = 999;  // less than 1 MB
  EXPECT_EQ(chosen(g), "gemm/cuda/any_operands");
  g.k = 1000;
  g.b.col_stride = 1001;
  EXPECT_EQ(chosen(g), "gemm/cuda/any_operands");
  g.b = {g.b.data, 1004, 1};  // its rows are not along k
  EXPECT_EQ(chosen(g), "gemm/cuda/any_operands");
}

TEST(CudaRules, SoDoUpToEightColumnsOfALargeMatrix) {
  GemmCall g = aligned_problem();
  g.dtype = Dtype::bf16;
  g.n = 8;
  g.m = 2560;
  g.k = 2048;
  EXPECT_EQ(chosen(g), "gemm/cuda/skinny_mma");
  g.k = 2047;  // rows that are no whole vectors
  EXPECT_EQ(chosen(g), "gemm/cuda/wgmma_tiles");
  g.k = 1024;  // 5 MB
  EXPECT_EQ(chosen(g), "gemm/cuda/wgmma_tiles");
  g.k = 2048;
  g.n = 9;
  EXPECT_EQ(chosen(g), "gemm/cuda/wgmma_tiles");
  g.n = 8;
  g.b = {g.b.data, 8, 1};  // along the columns
  EXPECT_EQ(chosen(g), "gemm/cuda/wgmma_tiles");
  g.k = 6400;
  EXPECT_EQ(chosen(g), "gemm/cuda/skinny_mma");
}

// TMA loads only the rows that exist, and a tile's time is that of reading B.
TEST(CudaRules, UpToEightAlignedRowsDoNotOnHopper) {
  GemmCall g = aligned_problem();
  g.dtype = Dtype::bf16_bf16;
  g.n = 2560;
  g.k = 2048;
  EXPECT_EQ(chosen(g), "gemm/cuda/wgmma_tiles");
  EXPECT_EQ(choose_cuda_gemm(g, 89).id, "gemm/cuda/skinny_mma");
  g.c.row_stride = 97;  // not timed
  EXPECT_EQ(chosen(g), "gemm/cuda/skinny_mma");
}

TEST(CudaRules, AVectorOf16BitElementsTakesTheSameWithAnyAlignment) {
  GemmCall g = aligned_problem();
  g.dtype = Dtype::bf16;
  g.m = 1;
  EXPECT_EQ(chosen(g), "gemm/cuda/skinny");
  g.m = 2;
  EXPECT_EQ(chosen(g), "gemm/cuda/wgmma_tiles");
  g.a.row_stride += 1;
  EXPECT_EQ(chosen(g), "gemm/cuda/skinny");
}

TEST(CudaRules, IndexIsThatOfTheTable) {
  EXPECT_EQ(cuda::gemm_rungs[static_cast<std::size_t>(cuda::GemmRungIndex::gemm_01_coalesced)].id,
            "gemm/cuda/01_coalesced");
}

TEST(CudaAlignment, IsThatOfTheLeastAlignedOperand) {
  EXPECT_EQ(alignment_of(aligned_problem()), 128);
  GemmCall g = aligned_problem();
  g.a.data = static_cast<const float*>(g.a.data) + 4;
  EXPECT_EQ(alignment_of(g), 16);
  g = aligned_problem();
  g.b.col_stride = 62;
  EXPECT_EQ(alignment_of(g), 8);
  g = aligned_problem();
  g.c.row_stride = 9;
  EXPECT_EQ(alignment_of(g), 4);
  EXPECT_EQ(alignment_of_ab(g), 128);
}

}  // namespace
}  // namespace rung
