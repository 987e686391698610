// The number of resident blocks per SM of each rung equals the CUDA toolkit's own calculation.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "backends/rungs/cuda.hpp"
#include "backends/rungs/kernel_name.hpp"
#include "ladder.hpp"
#include "select/cuda/tuned.hpp"
#include "tools/analysis/resources.hpp"
#include "tools/analysis/toolkit.hpp"
#include "vgpu/tests/cuda_occupancy.hpp"

namespace rung::analysis {
namespace {

TEST(Occupancy, TheBindingLimitIsNamed) {
  const vgpu::DeviceDescription h200 = vgpu::parse_device("h200");
  EXPECT_EQ(binding_limit(occupancy_of(h200, 117, 256, 8192, 0)), "registers");
  EXPECT_EQ(binding_limit(occupancy_of(h200, 16, 128, 40000, 0)), "shared memory");
  EXPECT_EQ(binding_limit(occupancy_of(h200, 16, 1024, 0, 0)), "warps");
  EXPECT_EQ(binding_limit(occupancy_of(h200, 16, 32, 0, 0)), "blocks");
  // Seed 001: 37 registers, 1024 threads and 8 KiB on sm_89.
  const vgpu::Occupancy seed = occupancy_of(vgpu::parse_device("rtx4090"), 37, 1024, 8192, 0);
  EXPECT_EQ(seed.limit_by_registers, 1);
  EXPECT_EQ(seed.limit_by_warps, 1);
  EXPECT_EQ(seed.limit_by_shared, 11);
  EXPECT_EQ(seed.allocated_registers, 1280 * 32);
  EXPECT_EQ(seed.warps, 32);
}

TEST(Occupancy, BlockModelsSayHowManyBlocksFit) {
  const vgpu::DeviceDescription h200 = vgpu::parse_device("h200");
  const auto all = cuda::TunedConfigs::of_device("a device without a cache");
  for (const cuda::BlockModel& model : all.models().blocks) {
    if (model.dtype == Dtype::f64) continue;  // fitted with fewer of the smallest tiles
    const cuda::GemmRung& rung = *cuda::find_gemm_rung(model.rung);
    const auto tiles = cuda::tiles_of(rung, model.dtype);
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      const std::string entry =
          cuda::kernel_of({0, "", &rung, {.tile = static_cast<int>(i)}}, model.dtype).text();
      const auto registers = recorded_registers(entry, 90);
      if (!registers) continue;  // built without nvcc
      const vgpu::Occupancy fit =
          occupancy_of(h200, registers->count, tiles[i].threads, 0, tiles[i].shared_bytes);
      EXPECT_EQ(model.tiles[i].resident, fit.blocks) << entry;
    }
  }
}

TEST(Resources, AreReadAsTheBuildWritesThem) {
  const auto kernels = parse_resources(
      R"([{"rung": "gemm/cuda/10_tuned_tiles", "dtype": "f32", "tile": 2, "arch": "sm_80",
           "nvcc": "13.0.88", "registers": 101, "spill_store_bytes": 4, "spill_load_bytes": 8,
           "stack_bytes": 0, "shared_bytes": 16, "max_threads": 128, "dynamic_shared": true},
          {"rung": "gemm/cuda/scale", "dtype": null, "tile": null, "arch": "sm_90",
           "registers": 18, "spill_store_bytes": 0, "spill_load_bytes": 0, "shared_bytes": 0}])");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].entry, "gemm_cuda_10_tuned_tiles_f32_2");
  EXPECT_EQ(kernels[0].arch, 80);
  EXPECT_EQ(kernels[0].registers, 101);
  EXPECT_EQ(kernels[0].spilled_bytes, 12);
  EXPECT_EQ(kernels[0].static_shared, 16);
  EXPECT_EQ(kernels[1].entry, "gemm_cuda_scale");
  EXPECT_THROW(parse_resources("{}}"), std::runtime_error);
}

TEST(Resources, EveryRungHasRegisters) {
  for (const Step& step : ladder("clang")) {
    const Registers registers =
        registers_of(step.setting.ptx(), step.setting.entry(), vgpu::parse_device("h200"));
    EXPECT_GE(registers.count, 16) << step.setting.entry();
    EXPECT_LE(registers.count, 255) << step.setting.entry();
    EXPECT_NE(registers.source, "");
  }
}

// sm_75, for which the build makes no machine code.
TEST(Resources, RegistersSayWhereTheyComeFrom) {
  if (find_tool("ptxas").empty()) GTEST_SKIP() << "no ptxas";
  const Step step = ladder("clang").front();
  const Registers registers =
      registers_of(step.setting.ptx(), step.setting.entry(), vgpu::parse_device("t4"));
  EXPECT_EQ(registers.source, "ptxas's machine code for sm_75");
}

#ifdef RUNG_HAS_CUDA_OCCUPANCY

int calculated_blocks(const vgpu::DeviceDescription& device, int registers, int threads,
                      std::int64_t static_shared, std::int64_t dynamic_shared) {
  const cudaOccDeviceProp properties = vgpu::properties_of(device);
  cudaOccFuncAttributes attributes;
  attributes.maxThreadsPerBlock = threads;
  attributes.numRegs = registers;
  attributes.sharedSizeBytes = static_cast<std::size_t>(static_shared);
  attributes.partitionedGCConfig = PARTITIONED_GC_OFF;
  attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  attributes.maxDynamicSharedSizeBytes = static_cast<std::size_t>(dynamic_shared);
  attributes.numBlockBarriers = 1;
  const cudaOccDeviceState state;
  cudaOccResult result = {};
  const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
      &result, &properties, &attributes, &state, threads, static_cast<std::size_t>(dynamic_shared));
  EXPECT_EQ(error, CUDA_OCC_SUCCESS);
  return result.activeBlocksPerMultiprocessor;
}

/// sm_90, 80, 75, 86, 89.
class AgainstToolkit : public testing::TestWithParam<const char*> {};

TEST_P(AgainstToolkit, EveryRungHasAsManyBlocks) {
  const vgpu::DeviceDescription device = vgpu::parse_device(GetParam());
  int compared = 0;
  for (const RungInfo* rung : gemm_rungs()) {
    for (const Dtype dtype : all_dtypes) {
      for (int tile = 0; tile < 6; ++tile) {
        std::optional<GemmSetting> setting;
        try {
          setting = gemm_setting(*rung, dtype, {4096, 4096, 4096}, device, "");
        } catch (const std::invalid_argument&) {
          continue;  // this device or type has no such rung
        }
        const auto tiles = cuda::tiles_of(*setting->rung, dtype);
        if (tile >= std::max<int>(1, static_cast<int>(tiles.size()))) continue;
        setting->config = {tile, 1};
        const cuda::Launch launch = setting->launch();
        const int arch = device.arch();
        const auto registers = recorded_registers(setting->entry(), arch);
        if (!registers) continue;  // built without nvcc
        std::int64_t static_shared = 0;
        for (const RecordedKernel& kernel : recorded_kernels()) {
          if (kernel.entry == setting->entry()) static_shared = kernel.static_shared;
        }
        const auto threads = static_cast<int>(launch.block.count());
        const vgpu::Occupancy ours =
            occupancy_of(device, registers->count, threads, static_shared, launch.shared_bytes);
        EXPECT_EQ(ours.blocks, calculated_blocks(device, registers->count, threads, static_shared,
                                                 launch.shared_bytes))
            << setting->entry() << " on " << device.name;
        ++compared;
      }
    }
  }
  if (!recorded_kernels().empty()) {
    EXPECT_GE(compared, 40);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, AgainstToolkit,
                         testing::Values("h200", "a100", "t4", "rtx3090", "rtx4090"),
                         [](const auto& parameter) { return std::string(parameter.param); });

#endif

}  // namespace
}  // namespace rung::analysis
