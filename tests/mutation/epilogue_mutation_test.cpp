// Mutants of the kernel with an epilogue, made like those of rungs in async_mutation_test.cpp.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "backends/cuda/images.hpp"
#include "backends/rungs/cuda.hpp"
#include "backends/rungs/kernel_name.hpp"
#include "device/cuda/library/fused_epilogue.hpp"
#include "encode_map.hpp"
#include "mutant_launch.hpp"
#include "rung/types.hpp"
#include "vgpu/launch.hpp"

namespace rung {
namespace {

/// A configuration, the number of tiles of C in a column, the k-blocks, and the number of SMs.
struct Setting {
  cuda::GemmConfig config;
  std::int64_t tiles, steps;
  int multiprocessors;
};

// Alternating consumers: the first one has two tiles. Each tile reuses the pipeline's boxes, and
// has more k-blocks than there are stages.
constexpr Setting in_turn = {{cuda::first_common_tile}, 3, 5 * 64 + 8, 1};
// Two blocks have two whole tiles each, and half of the k of another tile.
constexpr Setting in_parts = {{cuda::first_common_tile + 5, 2}, 5, 7 * 64 + 8, 2};
// A pair of blocks that share columns of B has two tiles each.
constexpr Setting in_pairs = {{cuda::first_common_tile + 6}, 4, 3 * 64 + 8, 2};

// All tiles are split: as above, but whole tiles fill the boxes again.
constexpr Setting all_in_parts = {{1, 2}, 5, 9 * 64 + 8, 2};

cuda::ConfiguredGemm kernel_in(const Setting& setting) {
  cuda::ConfiguredGemm kernel = cuda::fused_epilogue;
  kernel.config = setting.config;
  return kernel;
}

enum class Other { aux, residual };

Outcome run(const Lines& lines, const Setting& setting, Other what) {
  vgpu::DeviceMemory memory(std::size_t{1} << 24);
  const auto array = [&]<class T>(std::int64_t count, T value) {
    const std::vector<T> values(static_cast<std::size_t>(count), value);
    const std::uint64_t address = memory.allocate(values.size() * sizeof(T));
    memory.write(address, values.data(), values.size() * sizeof(T));
    return reinterpret_cast<T*>(address);
  };
  const auto [config, tiles, steps, multiprocessors] = setting;
  const cuda::ConfiguredGemm kernel_of_tile = kernel_in(setting);
  const cuda::TileShape& tile =
      cuda::tiles_of(*kernel_of_tile.rung, Dtype::bf16)[static_cast<std::size_t>(config.tile)];
  const std::int64_t m = tiles * tile.BM, n = tile.BN;
  const auto matrix = [&](std::int64_t rows, std::int64_t cols) {
    return array(rows * cols, bfloat16(1.0f));
  };
  cuda::FusedArgs<bfloat16> args = {
      .problem =
          {m, n, steps, 1, {matrix(m, steps), steps, 1}, {matrix(n, steps), 1, steps}, 0, {}},
      .epilogue = {.m = m,
                   .n = n,
                   .col_bias = {matrix(1, n), 0, 1, ElementType::bf16},
                   .c = {matrix(m, n), n, 1, ElementType::bf16}}};
  const EpilogueOperand other = {matrix(m, n), n, 1, ElementType::bf16};
  (what == Other::aux ? args.epilogue.aux : args.epilogue.residual) = other;
  const auto map_of_results = [&](const EpilogueOperand& results) {
    return cuda::TensorMapSpec{.data = results.data,
                               .element_bytes = 2,
                               .row_length = n,
                               .rows = m,
                               .ld = n,
                               .box_row_length = 64,
                               .box_rows = 64};
  };
  cuda::Launch launch =
      kernel_of_tile.rung->launches.of<bfloat16, float>()(args.problem, kernel_of_tile.config);
  launch = cuda::fitted(launch, multiprocessors);
  args.split_k = {.splits = config.splits,
                  .workspace = array(launch.workspace_bytes / 4 + 1, 0.0f)};
  encode(launch.a, args.maps.a);
  encode(launch.b, args.maps.b);
  encode(map_of_results(args.epilogue.c), args.maps.c);
  encode(map_of_results(other), args.other);

  return run_mutant(lines, cuda::kernel_of(kernel_of_tile, Dtype::bf16).text(), options_of(launch),
                    args, memory);
}

/// Runs both kinds of epilogue. A mutant is caught if one of them has hazards.
Outcome run_both(const Lines& lines, const Setting& setting) {
  Outcome outcome = run(lines, setting, Other::aux);
  if (!outcome.hazards.empty()) return outcome;
  const Outcome with_residual = run(lines, setting, Other::residual);
  outcome.hazards = with_residual.hazards;
  outcome.lines.insert(with_residual.lines.begin(), with_residual.lines.end());
  return outcome;
}

void expect_all_caught(const Setting& setting) {
  const cuda::ConfiguredGemm kernel = kernel_in(setting);
  Score score;
  for (const cuda::Image& image : cuda::images()) {
    if (image.id != kernel.id || image.code != cuda::Code::clang_ptx) continue;
    mutate(
        entry_of(unpacked(image.unit(Dtype::bf16)), cuda::kernel_of(kernel, Dtype::bf16).text()),
        kernel.id, [&](const Lines& lines) { return run_both(lines, setting); }, score);
  }
  EXPECT_GT(score.mutants, 0);
  std::printf("mutation score: %d of %d mutants caught\n", score.caught, score.mutants);
}

TEST(EpilogueMutation, EveryMutantIsCaught) { expect_all_caught(in_turn); }
TEST(EpilogueMutation, EveryMutantIsCaughtInParts) { expect_all_caught(in_parts); }
TEST(EpilogueMutation, EveryMutantOfAllPartsIsCaughtInParts) { expect_all_caught(all_in_parts); }
TEST(EpilogueMutation, EveryMutantIsCaughtInPairs) { expect_all_caught(in_pairs); }

}  // namespace
}  // namespace rung
