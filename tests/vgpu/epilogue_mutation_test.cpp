// Mutants of the kernel whose epilogue has the common parts, as async_mutation_test.cpp has them of rungs.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "backends/cuda/images.hpp"
#include "backends/cuda/kernel_name.hpp"
#include "backends/cuda/rungs.hpp"
#include "device/cuda/library/fused_epilogue.hpp"
#include "encode_map.hpp"
#include "ptx_mutants.hpp"
#include "vgpu/launch.hpp"

namespace rung {
namespace {

// Consumers in turn: the first one has two tiles. Each tile uses the ring of boxes again, and has more
// k-blocks than there are stages.
constexpr int multiprocessors = 1;
constexpr std::int64_t tiles = 3, steps = 5 * 64 + 8;

enum class Other { aux, residual };

Outcome run(const Lines& lines, const cuda::ConfiguredGemm& kernel_of_tile, Other what) {
  vgpu::DeviceMemory memory(std::size_t{1} << 24);
  const auto array = [&]<class T>(std::int64_t count, T value) {
    const std::vector<T> values(static_cast<std::size_t>(count), value);
    const std::uint64_t address = memory.allocate(values.size() * sizeof(T));
    memory.write(address, values.data(), values.size() * sizeof(T));
    return reinterpret_cast<T*>(address);
  };
  const cuda::TileShape& tile = cuda::tiles_of(
      *kernel_of_tile.rung, Dtype::bf16)[static_cast<std::size_t>(kernel_of_tile.config.tile)];
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
  encode(launch.a, args.maps.a);
  encode(launch.b, args.maps.b);
  encode(map_of_results(args.epilogue.c), args.maps.c);
  encode(map_of_results(other), args.other);

  vgpu::LaunchOptions options;
  options.grid.x = static_cast<std::uint32_t>(launch.grid.x);
  options.block.x = static_cast<std::uint32_t>(launch.block.x);
  options.dynamic_shared = launch.shared_bytes;
  options.starts_early = launch.starts_early;
  options.instruction_limit = 1 << 24;
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  const auto module = vgpu::Module::load(text, "mutant", memory);
  const vgpu::Kernel& kernel = *module->kernel(cuda::kernel_of(kernel_of_tile, Dtype::bf16).text());
  const auto report = vgpu::launch(kernel, options, std::as_bytes(std::span(&args, 1)), memory,
                                   vgpu::parse_device("h200"));
  return outcome_of(kernel, report, 1);
}

/// Of both: a mutant is caught if one of them shows it.
Outcome run_both(const Lines& lines, const cuda::ConfiguredGemm& kernel) {
  Outcome outcome = run(lines, kernel, Other::aux);
  if (!outcome.hazards.empty()) return outcome;
  const Outcome with_residual = run(lines, kernel, Other::residual);
  outcome.hazards = with_residual.hazards;
  outcome.lines.insert(with_residual.lines.begin(), with_residual.lines.end());
  return outcome;
}

TEST(EpilogueMutation, EveryMutantIsCaught) {
  cuda::ConfiguredGemm kernel = cuda::fused_epilogue;
  kernel.config.tile = cuda::first_common_tile;
  Score score;
  for (const cuda::Image& image : cuda::images()) {
    if (image.id != kernel.id || image.code != cuda::Code::clang_ptx) continue;
    mutate(
        entry_of(unpacked(image.unit(Dtype::bf16)), cuda::kernel_of(kernel, Dtype::bf16).text()),
        kernel.id, [&](const Lines& lines) { return run_both(lines, kernel); }, score);
  }
  EXPECT_GT(score.mutants, 0);
  std::printf("mutation score: %d of %d mutants caught\n", score.caught, score.mutants);
}

}  // namespace
}  // namespace rung
