#include "vgpu/occupancy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "vgpu/tests/cuda_occupancy.hpp"

namespace rung::vgpu {
namespace {

KernelResources kernel(int registers, std::int64_t static_shared = 0) {
  KernelResources resources;
  resources.registers = registers;
  resources.static_shared = static_shared;
  resources.max_dynamic_shared = 48 * 1024 - static_shared;
  return resources;
}

TEST(Occupancy, NothingButWarpsAndBlocksLimits) {
  const DeviceDescription h200 = parse_device("h200");
  const Occupancy full = occupancy(h200, kernel(16), 256, 0);
  EXPECT_EQ(full.blocks, 8);
  EXPECT_EQ(full.warps, 64);
  EXPECT_EQ(full.fraction, 1.0);
  EXPECT_EQ(full.limit_by_warps, 8);
  EXPECT_EQ(occupancy(h200, kernel(16), 32, 0).blocks, 32);
  EXPECT_EQ(occupancy(parse_device("t4"), kernel(16), 1024, 0).blocks, 1);
}

TEST(Occupancy, RegistersAreGivenToWarpsInUnits) {
  const DeviceDescription h200 = parse_device("h200");
  // 65 registers are rounded up to 72 per thread: 2304 per warp, and 7 warps in each of 4
  // partitions.
  const Occupancy result = occupancy(h200, kernel(65), 128, 0);
  EXPECT_EQ(result.limit_by_registers, 7);
  EXPECT_EQ(result.allocated_registers, 4 * 2304);
  EXPECT_EQ(occupancy(h200, kernel(255), 1024, 0).blocks, 0);
}

TEST(Occupancy, SharedMemoryIsRoundedAndTheSystemTakesItsShare) {
  const DeviceDescription h200 = parse_device("h200");
  const Occupancy result = occupancy(h200, kernel(16, 8192), 128, 1);
  EXPECT_EQ(result.allocated_shared, 8192 + 1024 + 128);
  EXPECT_EQ(result.limit_by_shared, 228 * 1024 / (8192 + 1024 + 128));
  EXPECT_EQ(occupancy(parse_device("t4"), kernel(16), 128, 0).limit_by_shared, no_limit);
}

TEST(Occupancy, DynamicSharedMemoryAboveTheDefaultHasToBeAllowed) {
  const DeviceDescription h200 = parse_device("h200");
  KernelResources resources = kernel(16);
  EXPECT_EQ(occupancy(h200, resources, 128, 100 * 1024).blocks, 0);
  resources.max_dynamic_shared = 100 * 1024;
  EXPECT_EQ(occupancy(h200, resources, 128, 100 * 1024).blocks, 2);
}

TEST(Occupancy, FewerBlocksFitWhenL1IsPreferred) {
  KernelResources resources = kernel(16, 8192);
  resources.shared_carveout = 0;
  const DeviceDescription h200 = parse_device("h200");
  EXPECT_EQ(occupancy(h200, resources, 128, 0).blocks, 1);
  resources.shared_carveout = 100;
  EXPECT_EQ(occupancy(h200, resources, 128, 0).blocks, 16);
}

TEST(Occupancy, NamedBarriersLimitFromHopperOn) {
  KernelResources resources = kernel(16);
  resources.barriers = 16;
  EXPECT_EQ(occupancy(parse_device("h200"), resources, 32, 0).blocks, 4);
  EXPECT_EQ(occupancy(parse_device("a100"), resources, 32, 0).blocks, 32);
}

TEST(Occupancy, BestBlockSize) {
  const DeviceDescription h200 = parse_device("h200");
  const auto none = [](int) { return std::int64_t{0}; };
  const BlockSizeChoice free_choice = best_block_size(h200, kernel(32), none);
  EXPECT_EQ(free_choice.block_size, 1024);
  EXPECT_EQ(free_choice.least_grid_size, 2 * 132);
  // 21 blocks of 96 threads would leave some warps unused.
  EXPECT_EQ(best_block_size(h200, kernel(32), none, 100).block_size, 64);
  const BlockSizeChoice shared_grows =
      best_block_size(h200, kernel(32), [](int threads) { return std::int64_t{64} * threads; });
  EXPECT_EQ(shared_grows.block_size, 512);
  const auto too_much = [](int) { return std::int64_t{1} << 20; };
  EXPECT_EQ(best_block_size(h200, kernel(32), too_much).block_size, 0);
}

#ifdef RUNG_HAS_CUDA_OCCUPANCY

cudaOccFuncAttributes attributes_of(const KernelResources& resources) {
  cudaOccFuncAttributes attributes;
  attributes.maxThreadsPerBlock = resources.max_threads;
  attributes.numRegs = resources.registers;
  attributes.sharedSizeBytes = static_cast<std::size_t>(resources.static_shared);
  attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  attributes.maxDynamicSharedSizeBytes = static_cast<std::size_t>(resources.max_dynamic_shared);
  attributes.numBlockBarriers = resources.barriers;
  return attributes;
}

class AgainstCalculator : public testing::TestWithParam<std::string> {};

TEST_P(AgainstCalculator, EveryBlockCountIsTheSame) {
  const DeviceDescription device = parse_device(GetParam());
  const cudaOccDeviceProp properties = properties_of(device);
  for (const int registers : {0, 1, 8, 24, 32, 33, 40, 63, 64, 65, 96, 128, 168, 255}) {
    for (const std::int64_t static_shared : {0, 1, 1024, 4097, 16384, 33000, 49152}) {
      for (const std::int64_t dynamic :
           {0, 100, 8192, 32768, 49152, 65536, 102400, 166912, 232448}) {
        for (const int carveout : {-1, 0, 25, 50, 100}) {
          for (const int barriers : {1, 5, 16}) {
            KernelResources resources = kernel(registers, static_shared);
            resources.shared_carveout = carveout;
            resources.barriers = barriers;
            resources.max_dynamic_shared = std::min(std::max(resources.max_dynamic_shared, dynamic),
                                                    device.shared_per_block_optin - static_shared);
            const cudaOccFuncAttributes attributes = attributes_of(resources);
            cudaOccDeviceState state;
            state.carveoutConfig = carveout;
            for (int threads = 1; threads <= 1056; threads += threads < 64 ? 31 : 97) {
              cudaOccResult expected;
              const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
                  &expected, &properties, &attributes, &state, threads,
                  static_cast<std::size_t>(dynamic));
              ASSERT_EQ(error, CUDA_OCC_SUCCESS);
              const Occupancy result = occupancy(device, resources, threads, dynamic);
              ASSERT_EQ(result.blocks, expected.activeBlocksPerMultiprocessor)
                  << registers << " registers, " << static_shared << " + " << dynamic
                  << " bytes, carveout " << carveout << ", " << threads << " threads";
              ASSERT_EQ(result.limit_by_registers, expected.blockLimitRegs);
              ASSERT_EQ(result.limit_by_shared, expected.blockLimitSharedMem);
              ASSERT_EQ(result.limit_by_barriers, expected.blockLimitBarriers);
            }
          }
        }
      }
    }
  }
}

TEST_P(AgainstCalculator, TheBestBlockSizeIsTheSame) {
  const DeviceDescription device = parse_device(GetParam());
  const cudaOccDeviceProp properties = properties_of(device);
  for (int registers = 1; registers <= 255; registers += 7) {
    for (const int max_threads : {64, 250, 1024}) {
      for (const std::int64_t dynamic : {0, 5000, 40000}) {
        KernelResources resources = kernel(registers);
        resources.max_threads = max_threads;
        const cudaOccFuncAttributes attributes = attributes_of(resources);
        const cudaOccDeviceState state;
        int grid = 0;
        int block = 0;
        ASSERT_EQ(cudaOccMaxPotentialOccupancyBlockSize(&grid, &block, &properties, &attributes,
                                                        &state, static_cast<std::size_t>(dynamic)),
                  CUDA_OCC_SUCCESS);
        const BlockSizeChoice choice =
            best_block_size(device, resources, [&](int) { return dynamic; });
        ASSERT_EQ(choice.block_size, block) << registers << " registers, " << max_threads;
        ASSERT_EQ(choice.least_grid_size, grid);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Occupancy, AgainstCalculator,
                         testing::Values("h200", "a100", "t4", "rtx3090", "rtx4090"),
                         [](const auto& parameter) { return parameter.param; });

#else

TEST(AgainstCalculator, EveryBlockCountIsTheSame) { GTEST_SKIP() << "no <cuda_occupancy.h>"; }
TEST(AgainstCalculator, TheBestBlockSizeIsTheSame) { GTEST_SKIP() << "no <cuda_occupancy.h>"; }

#endif

}  // namespace
}  // namespace rung::vgpu
