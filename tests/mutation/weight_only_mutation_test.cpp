// Mutants of the weight_* kernels, which multiply by packed weights, made like those in
// async_mutation_test.cpp for rungs that multiply plain matrices.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "backends/cuda/images.hpp"
#include "backends/rungs/cuda.hpp"
#include "backends/rungs/kernel_name.hpp"
#include "device/cuda/entry/weight_only.hpp"
#include "device/cuda/epilogue/split_k.cuh"
#include "mutant_launch.hpp"
#include "vgpu/model/tensor_map.hpp"

namespace rung {
namespace {

// A tile with two splits of k. Each split reuses its first stages, and reads last where the results
// are staged.
constexpr int splits = 2;
constexpr std::int64_t k = splits * 9 * WeightLayout::steps;

vgpu::TensorMap map_of_rows(const void* a, std::int64_t rows, int box_rows) {
  vgpu::TensorMap map;
  map.tag = vgpu::TensorMap::valid_tag;
  map.address = reinterpret_cast<std::uint64_t>(a);
  map.dimensions = 2;
  map.element = vgpu::TensorElement::bf16;
  map.swizzle = vgpu::TensorSwizzle::bytes_128;
  map.sizes = {static_cast<std::uint32_t>(k - 1), static_cast<std::uint32_t>(rows - 1), 0};
  map.strides = {static_cast<std::uint64_t>(k * 2), 0};
  map.box = {64, static_cast<std::uint16_t>(box_rows), 1};
  map.steps = {1, 1, 1};
  return map;
}

/// Multiplies ones by weights of 0, with a kernel compiled for sm_80 or sm_90.
Outcome run(const Lines& lines, const cuda::ConfiguredGemm& rung, int arch) {
  vgpu::DeviceMemory memory(std::size_t{1} << 24);
  const auto array = [&]<class T>(std::int64_t count, T value) {
    const std::vector<T> values(static_cast<std::size_t>(count), value);
    const std::uint64_t address = memory.allocate(values.size() * sizeof(T));
    memory.write(address, values.data(), values.size() * sizeof(T));
    return reinterpret_cast<T*>(address);
  };
  const cuda::TileShape& tile =
      cuda::tiles_of(*rung.rung, Dtype::bf16)[static_cast<std::size_t>(rung.config.tile)];
  const std::int64_t m = std::max(1, tile.BM - 3), n = std::min(tile.BN, 384) - 5;
  const WeightLayout layout = {.n = n, .k = k, .bits = 4, .group = 128, .has_zeros = true};
  cuda::WeightOnlyArgs<bfloat16> args = {
      .gemm = {.problem = {m,
                           n,
                           k,
                           1,
                           {array(m * k, bfloat16(1.0f)), k, 1},
                           {},
                           0,
                           {array(m * n, 0.0f), n, 1}},
               .split_k = {.splits = splits}},
      .weights = array(layout.bytes(), static_cast<unsigned char>(0)),
      .layout = layout,
      .c_is_float = true};
  const std::int64_t sums =
      cuda::split_bytes<float>(1, std::int64_t{tile.BM} * tile.BN, {.splits = splits});
  args.gemm.split_k.workspace = array(sums, '\0');
  const vgpu::TensorMap map = map_of_rows(args.gemm.problem.a.data, m, tile.BM);
  static_assert(sizeof map <= sizeof args.gemm.maps.a);
  std::memcpy(&args.gemm.maps.a, &map, sizeof map);

  vgpu::LaunchOptions options;
  options.grid.x = splits;
  options.block.x = static_cast<std::uint32_t>(tile.threads);
  options.dynamic_shared = tile.shared_bytes;
  // weight_stream keeps a block's part of A there, too.
  if (rung.rung->entry == "gemm_cuda_weight_stream") {
    options.dynamic_shared += m * (k / splits * 2 + 16);
  }
  options.starts_early = arch == 90;
  options.instruction_limit = 1 << 24;
  return run_mutant(lines, cuda::kernel_of(rung, Dtype::bf16).text(), options, args, memory);
}

TEST(WeightOnlyMutation, EveryMutantIsCaught) {
  struct Case {
    const char* id;
    int tile = 0;
  };
  // weight_only_wgmma: the smallest tile, and the largest one, which has the fewest stages.
  for (const auto& [id, tile] :
       {Case{"gemm/cuda/weight_only"}, Case{"gemm/cuda/weight_only_wgmma"},
        Case{"gemm/cuda/weight_only_wgmma", 3}, Case{"gemm/cuda/weight_stream"}}) {
    cuda::ConfiguredGemm rung = cuda::configured_gemm(id);
    rung.config.tile = tile;
    Score score;
    for (const cuda::Image& image : cuda::images()) {
      if (image.id != id || image.code != cuda::Code::clang_ptx) continue;
      mutate(
          entry_of(unpacked(image.unit(Dtype::bf16)), cuda::kernel_of(rung, Dtype::bf16).text()),
          id, [&](const Lines& lines) { return run(lines, rung, image.arch); }, score);
    }
    EXPECT_GT(score.mutants, 0) << id;
    EXPECT_EQ(score.caught, score.mutants) << id;
  }
}

}  // namespace
}  // namespace rung
