// Mutants of the kernel of gemm_parts(), as async_mutation_test.cpp has them of rungs. The kernel awaits
// itself: the addend of its second part is the result of the first one, so that the words by which parts
// are reported and awaited order accesses of one launch, which the virtual GPU watches.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "backends/cuda/images.hpp"
#include "backends/cuda/kernel_name.hpp"
#include "device/cuda/library/parted_gemm.hpp"
#include "ptx_mutants.hpp"
#include "vgpu/model/tensor_map.hpp"

namespace rung {
namespace {

// Two tiles in each part, one of which has so few rows that threads store them. Stages are used again.
constexpr std::int64_t rows = 148, n = 256, k = 136;

cuda::EncodedTensorMap map_of(const void* data, std::int64_t cols, int box_rows) {
  vgpu::TensorMap map;
  map.tag = vgpu::TensorMap::valid_tag;
  map.address = reinterpret_cast<std::uint64_t>(data);
  map.dimensions = 2;
  map.element = vgpu::TensorElement::bf16;
  map.swizzle = vgpu::TensorSwizzle::bytes_128;
  const std::int64_t lines = cols == k && box_rows == 256 ? n : 2 * rows;
  map.sizes = {static_cast<std::uint32_t>(cols - 1), static_cast<std::uint32_t>(lines - 1), 0};
  map.strides = {static_cast<std::uint64_t>(cols * 2), 0};
  map.box = {64, static_cast<std::uint16_t>(box_rows), 1};
  map.steps = {1, 1, 1};
  cuda::EncodedTensorMap encoded;
  static_assert(sizeof map <= sizeof encoded);
  std::memcpy(&encoded, &map, sizeof map);
  return encoded;
}

Outcome run(const Lines& lines) {
  vgpu::DeviceMemory memory(std::size_t{1} << 24);
  const auto array = [&]<class T>(std::int64_t count, T value) {
    const std::vector<T> values(static_cast<std::size_t>(count), value);
    const std::uint64_t address = memory.allocate(values.size() * sizeof(T));
    memory.write(address, values.data(), values.size() * sizeof(T));
    return reinterpret_cast<T*>(address);
  };
  const auto ones = [&](std::int64_t count) { return array(count, bfloat16(1.0f)); };
  bfloat16 *const a = ones(2 * rows * k), *const b = ones(n * k);
  bfloat16 *const c = ones(2 * rows * n), *const sent = ones(2 * rows * n);
  unsigned *const word = array(1, 0u), *const stored = array(2, 0u);
  cuda::PartedArgs<bfloat16> args = {
      .problem = {2 * rows, n, k, 1, {a, k, 1}, {b, 1, k}, 0, {c, n, 1}},
      .maps = {map_of(a, k, 128), map_of(b, k, 256), map_of(c, n, 64)},
      .other_c = map_of(sent, n, 64),
      .addend = map_of(sent, n, 64),
      .matrix_of_other_c = {sent, n, 1},
      .next_tile = array(1, 0u),
      .stored = stored};
  args.parts[0] = {.tiles_end = 2, .c_end = rows, .c_is_other = true, .finished = word};
  args.parts[1] = {
      .tiles_end = 4, .a_row = rows, .c_end = rows, .has_addend = true, .awaited = word};
  args.count = 2;

  const cuda::ConfiguredGemm& gemm = cuda::parted_gemm;
  vgpu::LaunchOptions options;
  options.grid.x = 2;
  options.block.x =
      static_cast<std::uint32_t>(cuda::tiles_of(*gemm.rung, Dtype::bf16_bf16)[0].threads);
  options.dynamic_shared = cuda::tiles_of(*gemm.rung, Dtype::bf16_bf16)[0].shared_bytes;
  options.starts_early = true;
  options.instruction_limit = 1 << 20;
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  const auto module = vgpu::Module::load(text, "mutant", memory);
  const vgpu::Kernel& kernel = *module->kernel(cuda::kernel_of(gemm, Dtype::bf16_bf16).text());
  const auto report = vgpu::launch(kernel, options, std::as_bytes(std::span(&args, 1)), memory,
                                   vgpu::parse_device("h200"));
  return outcome_of(kernel, report, 1);
}

TEST(PartedGemmMutation, EveryMutantIsCaught) {
  Score score;
  for (const cuda::Image& image : cuda::images()) {
    if (image.id != cuda::parted_gemm.id || image.code != cuda::Code::clang_ptx) continue;
    mutate(entry_of(unpacked(image.unit(Dtype::bf16_bf16)),
                    cuda::kernel_of(cuda::parted_gemm, Dtype::bf16_bf16).text()),
           "gemm_parts", run, score);
  }
  EXPECT_GT(score.mutants, 0);
  EXPECT_EQ(score.caught, score.mutants);
}

}  // namespace
}  // namespace rung
