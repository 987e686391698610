// The memory traffic of CUDA rungs, on the virtual GPU, is that which one works out by hand.

#include <gtest/gtest.h>

#include <cstdint>

#include "front_ends.hpp"

namespace rung {
namespace {

// 64 x 64 x 64 in f32: 128 warps, of which each thread makes 64 multiply-adds; a row of A or B is
// 256 bytes, and begins a sector.
constexpr GemmSpec cube = {.m = 64, .n = 64, .k = 64};
constexpr std::uint64_t warps = 64 * 64 / 32;

TEST(CudaTraffic, NaiveReadsASectorForEachRow) {
  const vgpu::Counters c = count("gemm/cuda/00_naive", cube, "clang");
  EXPECT_EQ(c.global_load_requests, 2 * 64 * warps);
  EXPECT_EQ(c.global_load_sectors, (32 + 1) * 64 * warps);
  EXPECT_EQ(c.global_store_requests, warps);
  EXPECT_EQ(c.global_store_sectors, 32 * warps);
  EXPECT_EQ(c.ffma, 64u * 64 * 64);
}

TEST(CudaTraffic, CoalescedReadsFourSectorsOfARow) {
  const vgpu::Counters c = count("gemm/cuda/01_coalesced", cube, "clang");
  EXPECT_EQ(c.global_load_requests, 2 * 64 * warps);
  EXPECT_EQ(c.global_load_sectors, (1 + 4) * 64 * warps);
  EXPECT_EQ(c.global_store_requests, warps);
  EXPECT_EQ(c.global_store_sectors, 4 * warps);
  EXPECT_EQ(c.ffma, 64u * 64 * 64);
  EXPECT_EQ(c.divergent_branches, 0u);
}

TEST(CudaTraffic, SharedTileReadsEachElementOnceABlock) {
  const vgpu::Counters c = count("gemm/cuda/02_shared_tile", cube, "clang");
  constexpr std::uint64_t tiles = 2;  // along k
  EXPECT_EQ(c.global_load_requests, 2 * tiles * warps);
  EXPECT_EQ(c.global_load_sectors, 2 * 4 * tiles * warps);
  EXPECT_EQ(c.shared_store_requests, 2 * tiles * warps);
  EXPECT_EQ(c.shared_store_wavefronts, 2 * tiles * warps);
  EXPECT_EQ(c.shared_load_requests, 2 * 64 * warps);
  EXPECT_EQ(c.shared_load_wavefronts, 2 * 64 * warps);  // one is a broadcast, the other a row
  EXPECT_EQ(c.barriers, 2 * tiles * warps);
  EXPECT_EQ(c.ffma, 64u * 64 * 64);
}

// Four tiles of 128 x 128 in two steps of 64, A in boxes of 64 x 128 and B in boxes of 64 x 64.
constexpr GemmSpec boxes = {.dtype = Dtype::bf16, .m = 256, .n = 256, .k = 128};
constexpr std::uint64_t operand_bytes = 256 * 128 * 2;  // of A and of B

TEST(CudaTraffic, TilesComeByBulkCopies) {
  const vgpu::Counters c = count("gemm/cuda/24_tma", boxes, "clang");
  EXPECT_EQ(c.bulk_loads, 4u * 2 * (1 + 2));
  EXPECT_EQ(c.bulk_load_bytes, 2 * 2 * operand_bytes);
  EXPECT_EQ(c.bulk_load_sectors, c.bulk_load_bytes / 32);
  EXPECT_EQ(c.bulk_load_lines, c.bulk_load_bytes / 128);
  EXPECT_EQ(c.bulk_shared_store_bytes, c.bulk_load_bytes);
  EXPECT_EQ(c.global_load_requests + c.bulk_stores, 0u);
  EXPECT_EQ(c.tensor_multiply_adds, 256u * 256 * 128);
  // Two warpgroups a tile, 64 rows of A and 128 columns of B in each step of 16.
  EXPECT_EQ(c.wgmma_shared_load_bytes, 4u * 2 * 8 * (64 + 128) * 32);
}

TEST(CudaTraffic, BoxesHaveTheRowsThatExist) {
  // A tile of 64 x 64 in five steps of 64.
  const GemmSpec few = {.dtype = Dtype::bf16, .m = 24, .n = 64, .k = 320, .b_transposed = true};
  const vgpu::Counters c = count("gemm/cuda/31_dependent_launch", few, "clang");
  EXPECT_EQ(c.bulk_shared_store_bytes, 5u * (24 + 64) * 128);
}

TEST(CudaTraffic, CComesByBulkCopies) {
  GemmSpec spec = boxes;
  const vgpu::Counters without = count("gemm/cuda/31_dependent_launch", spec, "clang");
  spec.beta = 1;
  const vgpu::Counters c = count("gemm/cuda/31_dependent_launch", spec, "clang");
  EXPECT_EQ(c.bulk_load_bytes, without.bulk_load_bytes + 256 * 256 * sizeof(float));
  EXPECT_EQ(c.bulk_stores, without.bulk_stores);
  EXPECT_EQ(c.global_load_requests + c.global_store_requests, 0u);
}

TEST(CudaTraffic, ClustersReadOperandsOnce) {
  // Two blocks, side by side in one cluster, each with 128 rows and all columns.
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
