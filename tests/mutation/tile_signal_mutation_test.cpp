// Mutants of the GEMM with tile signals (kernels/device/cuda/library/tile_signal_gemm.cu), made like
// those of rungs in async_mutation_test.cpp. The kernel waits for signals that it sends itself: the
// first part's results are the addend of the second part and the A of the third, so that each step
// from a store to a load by another block is checked for races.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/cuda/images.hpp"
#include "backends/rungs/cuda.hpp"
#include "backends/rungs/kernel_name.hpp"
#include "device/cuda/library/tile_signal_gemm.hpp"
#include "encode_map.hpp"
#include "mutant_launch.hpp"
#include "rung/types.hpp"

namespace rung {
namespace {

// Each of these parts is a whole tile and a tile of few rows, which threads of all warps store. A
// is as wide as C, because C becomes A.
constexpr std::int64_t rows = 150, n = 200;
constexpr int tiles_of_part = 2;
// A part without flags, so that a block has two consecutive tiles that TMA stores.
constexpr int blocks = 2, more_tiles = 3;
constexpr std::int64_t more_rows = more_tiles * 128, all_rows = 2 * rows + more_rows;

Outcome run(const Lines& lines) {
  using T = bfloat16;
  vgpu::DeviceMemory memory(std::size_t{1} << 24);
  const auto array = [&]<class Element>(std::int64_t count, Element value) {
    const std::vector<Element> values(static_cast<std::size_t>(count), value);
    const std::uint64_t address = memory.allocate(values.size() * sizeof(Element));
    memory.write(address, values.data(), values.size() * sizeof(Element));
    return reinterpret_cast<Element*>(address);
  };
  const auto product = [&](T* a, std::int64_t rows_of_c, T* c) {
    return Gemm<T, T>{rows_of_c, n, n, 1, {a, n, 1}, {array(n * n, T(1.0f)), n, 1}, 0, {c, n, 1}};
  };
  const auto launch_of = [](const Gemm<T, T>& gemm) {
    return cuda::tile_signal_gemm.rung->launches.of<T, T>()(gemm, {});
  };
  T* const first = array(rows * n, T(1.0f));  // results of the first part
  const Gemm<T, T> own =
      product(array(more_rows * n, T(1.0f)), all_rows, array(all_rows * n, T(1.0f)));
  const Gemm<T, T> others = product(first, rows, first);

  cuda::TileSignalArgs<T> args = {.problem = own,
                                  .matrix_of_other_c = others.c,
                                  .next_tile = array(1, 0u),
                                  .stored = array(4, 0u),
                                  .count = 4};
  cuda::Launch launch = launch_of(own);
  cuda::TensorMapSpec own_a = launch.a;
  own_a.rows = more_rows;
  encode(own_a, args.maps.a);
  encode(launch.b, args.maps.b);
  encode(launch.c, args.maps.c);
  const cuda::Launch of_others = launch_of(others);
  encode(of_others.a, args.other_a);
  encode(of_others.c, args.other_c);
  encode(of_others.c, args.addend);
  unsigned* const reported = array(1, 0u);
  const auto end = [](int parts) { return parts * tiles_of_part; };
  args.parts[0] = {.tiles_end = end(1), .c_end = rows, .c_is_other = true, .finished = reported};
  args.parts[1] = {.tiles_end = end(2), .c_end = rows, .has_addend = true, .awaited = reported};
  args.parts[2] = {.tiles_end = end(3),
                   .c_row = rows,
                   .c_end = 2 * rows,
                   .a_is_other = true,
                   .awaited = reported};
  args.parts[3] = {.tiles_end = end(3) + more_tiles, .c_row = 2 * rows, .c_end = all_rows};

  vgpu::LaunchOptions options;
  options.threads = 1;  // the same order of events in every run
  options.grid.x = blocks;
  options.block.x = static_cast<std::uint32_t>(launch.block.x);
  options.dynamic_shared = launch.shared_bytes;
  options.starts_early = launch.starts_early;
  options.instruction_limit = 1 << 20;
  return run_mutant(lines, cuda::kernel_of(cuda::tile_signal_gemm, Dtype::bf16_bf16).text(),
                    options, args, memory);
}

bool releases_or_acquires(const std::string& line) {
  return releases(line) || has_any(line, {"ld.acquire"});
}

TEST(TileSignalMutation, EveryMutantIsCaught) {
  Score score;
  for (const cuda::Image& image : cuda::images()) {
    if (image.id != cuda::tile_signal_gemm.id || image.code != cuda::Code::clang_ptx) continue;
    mutate(entry_of(unpacked(image.unit(Dtype::bf16_bf16)),
                    cuda::kernel_of(cuda::tile_signal_gemm, Dtype::bf16_bf16).text()),
           image.id, run, score, releases_or_acquires);
  }
  EXPECT_GT(score.mutants, 0);
  std::printf("mutation score: %d of %d mutants caught\n", score.caught, score.mutants);
}

}  // namespace
}  // namespace rung
