// The memory traffic of CUDA rungs on the virtual GPU equals that computed by hand.

#include <gtest/gtest.h>

#include <cstdint>

#include "front_ends.hpp"

namespace rung {
namespace {

// 64 x 64 x 64 in f32: 128 warps, with 64 FMAs per thread. A row of A or B has 256 bytes and starts
// at a sector.
constexpr GemmSpec cube = {.m = 64, .n = 64, .k = 64};
constexpr std::uint64_t all_warps = 64 * 64 / 32;

TEST(CudaTraffic, NaiveReadsASectorForEachRow) {
  const vgpu::Counters c = count("gemm/cuda/00_naive", cube, "clang");
  EXPECT_EQ(c.global_load_requests, 2 * 64 * all_warps);
  EXPECT_EQ(c.global_load_sectors, (32 + 1) * 64 * all_warps);
  EXPECT_EQ(c.global_store_requests, all_warps);
  EXPECT_EQ(c.global_store_sectors, 32 * all_warps);
  EXPECT_EQ(c.ffma, 64u * 64 * 64);
}

TEST(CudaTraffic, CoalescedReadsFourSectorsOfARow) {
  const vgpu::Counters c = count("gemm/cuda/01_coalesced", cube, "clang");
  EXPECT_EQ(c.global_load_requests, 2 * 64 * all_warps);
  EXPECT_EQ(c.global_load_sectors, (1 + 4) * 64 * all_warps);
  EXPECT_EQ(c.global_store_requests, all_warps);
  EXPECT_EQ(c.global_store_sectors, 4 * all_warps);
  EXPECT_EQ(c.ffma, 64u * 64 * 64);
  EXPECT_EQ(c.divergent_branches, 0u);
}

TEST(CudaTraffic, SharedTileReadsEachElementOnceABlock) {
  const vgpu::Counters c = count("gemm/cuda/02_shared_tile", cube, "clang");
  constexpr std::uint64_t tiles = 2;  // along k
  EXPECT_EQ(c.global_load_requests, 2 * tiles * all_warps);
  EXPECT_EQ(c.global_load_sectors, 2 * 4 * tiles * all_warps);
  EXPECT_EQ(c.shared_store_requests, 2 * tiles * all_warps);
  EXPECT_EQ(c.shared_store_wavefronts, 2 * tiles * all_warps);
  EXPECT_EQ(c.shared_load_requests, 2 * 64 * all_warps);
  EXPECT_EQ(c.shared_load_wavefronts, 2 * 64 * all_warps);  // a broadcast and a row
  EXPECT_EQ(c.barriers, 2 * tiles * all_warps);
  EXPECT_EQ(c.ffma, 64u * 64 * 64);
}

// Four tiles of 128 x 128 in two steps of 64, with boxes of 64 x 128 for A and of 64 x 64 for B.
constexpr GemmSpec boxes = {.dtype = Dtype::bf16, .m = 256, .n = 256, .k = 128};
constexpr std::uint64_t operand_bytes = 256 * 128 * 2;  // for each of A and B

TEST(CudaTraffic, TilesComeByBulkCopies) {
  const vgpu::Counters c = count("gemm/cuda/24_tma", boxes, "clang");
  EXPECT_EQ(c.bulk_loads, 4u * 2 * (1 + 2));
  EXPECT_EQ(c.bulk_load_bytes, 2 * 2 * operand_bytes);
  EXPECT_EQ(c.bulk_load_sectors, c.bulk_load_bytes / 32);
  EXPECT_EQ(c.bulk_load_lines, c.bulk_load_bytes / 128);
  EXPECT_EQ(c.bulk_shared_store_bytes, c.bulk_load_bytes);
  EXPECT_EQ(c.global_load_requests + c.bulk_stores, 0u);
  EXPECT_EQ(c.tensor_multiply_adds, 256u * 256 * 128);
  // Two warpgroups per tile, each with 64 rows of A and 128 columns of B per step of 16.
  EXPECT_EQ(c.wgmma_shared_load_bytes, 4u * 2 * 8 * (64 + 128) * 32);
}

TEST(CudaTraffic, BoxesHaveTheRowsThatExist) {
  // One tile of 64 x 64 in five steps of 64.
  const GemmSpec few = {.dtype = Dtype::bf16, .m = 24, .n = 64, .k = 320, .b_transposed = true};
  const vgpu::Counters c = count("gemm/cuda/wgmma_tiles", few, "clang");
  EXPECT_EQ(c.bulk_shared_store_bytes, 5u * (24 + 64) * 128);
}

TEST(CudaTraffic, CComesByBulkCopies) {
  GemmSpec spec = boxes;
  const vgpu::Counters without = count("gemm/cuda/wgmma_tiles", spec, "clang");
  spec.beta = 1;
  const vgpu::Counters c = count("gemm/cuda/wgmma_tiles", spec, "clang");
  EXPECT_EQ(c.bulk_load_bytes, without.bulk_load_bytes + 256 * 256 * sizeof(float));
  EXPECT_EQ(c.bulk_stores, without.bulk_stores);
  EXPECT_EQ(c.global_load_requests + c.global_store_requests, 0u);
}

TEST(CudaTraffic, ClustersReadOperandsOnce) {
  // Two blocks side by side in one cluster, each with 128 rows and all columns.
  const vgpu::Counters c = count("gemm/cuda/28_stored_boxes", boxes, "clang");
  EXPECT_EQ(c.bulk_loads, 2u * 2 * (1 + 2));
  EXPECT_EQ(c.bulk_load_bytes, 2 * operand_bytes);
  EXPECT_EQ(c.bulk_shared_store_bytes, operand_bytes + 2 * operand_bytes);
  // C as f32 in boxes of 64 x 32.
  EXPECT_EQ(c.bulk_stores, 4u * 8);
  EXPECT_EQ(c.bulk_store_bytes, 256u * 256 * 4);
  EXPECT_EQ(c.bulk_store_sectors, c.bulk_store_bytes / 32);
  EXPECT_EQ(c.bulk_store_lines, c.bulk_store_bytes / 128);
  EXPECT_EQ(c.bulk_shared_load_bytes, c.bulk_store_bytes);
  EXPECT_EQ(c.global_load_requests + c.global_store_requests, 0u);
  EXPECT_EQ(c.tensor_multiply_adds, 256u * 256 * 128);
  EXPECT_EQ(c.wgmma_shared_load_bytes, 4u * 8 * (64 + 256) * 32);
}

}  // namespace
}  // namespace rung
