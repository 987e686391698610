// Mutates the rungs that use TMA, one change at a time: removes each instruction that synchronises,
// exchanges each with the following one, and relaxes each release in global memory. The virtual GPU
// must report a hazard for every mutant, except those equivalent to the rung.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/cuda/images.hpp"
#include "backends/rungs/cuda.hpp"
#include "backends/rungs/kernel_name.hpp"
#include "device/cuda/cost/invariant.hpp"
#include "device/cuda/entry/block_scaled.hpp"
#include "device/cuda/library/halves_memory.hpp"
#include "device/cuda/library/mixed_operand.hpp"
#include "device/cuda/library/quantize_operand.hpp"
#include "device/cuda/library/split_digits.hpp"
#include "device/cuda/library/split_operand.hpp"
#include "device/cuda/library/split_residues.hpp"
#include "encode_map.hpp"
#include "mutant_launch.hpp"
#include "rung/types.hpp"
#include "vgpu/launch.hpp"

namespace rung {
namespace {

// Rungs with several tile sizes whose mutants differ from those of the others: for bf16 and bf16-bf16, for halves
// and digits of f32, for split operands, and for 8-bit types with scales.
constexpr std::string_view with_tiles[] = {
    "gemm/cuda/wgmma_tiles",     "gemm/cuda/split_f16",           "gemm/cuda/digits",
    "gemm/cuda/split_bf16",      "gemm/cuda/ping_pong",           "gemm/cuda/grouped",
    "gemm/cuda/batched_wgmma",   "gemm/cuda/batched_fma",         "gemm/cuda/block_scaled",
    "gemm/cuda/wgmma_multicast", "gemm/cuda/wgmma_cluster_split", "gemm/cuda/31_dependent_launch"};

// Number of products in a batch.
constexpr std::int64_t products_of_batch = 3;

/// A problem, its configuration, and the number of SMs.
struct Setting {
  std::int64_t m, n, k;
  cuda::GemmConfig config;
  int multiprocessors;
};

Dtype dtype_of(const cuda::GemmRung& rung) {
  if (cuda::has(rung, Dtype::bf16)) return Dtype::bf16;
  if (cuda::has(rung, Dtype::bf16_bf16)) return Dtype::bf16_bf16;
  if (cuda::has(rung, Dtype::f32)) return Dtype::f32;
  return cuda::has(rung, Dtype::f64) ? Dtype::f64 : Dtype::e4m3;
}

bool is_few_rows(const cuda::GemmRung& rung) { return rung.entry == cuda::few_rows.rung->entry; }

bool is_summed_parts(const cuda::GemmRung& rung) {
  return rung.entry == cuda::summed_parts.rung->entry;
}

/// True if two consumers process alternate tiles.
bool takes_turns(const cuda::GemmRung& rung) { return rung.entry == "gemm_cuda_ping_pong"; }

bool is_multicast(const cuda::GemmRung& rung) { return rung.entry == "gemm_cuda_wgmma_multicast"; }

/// True if tiles of fewer than 64 rows or columns are loaded only in part.
bool loads_short_tiles(const cuda::GemmRung& rung) {
  return rung.entry == "gemm_cuda_wgmma_tiles" || is_few_rows(rung);
}

/// True for the rungs of sm_100a.
bool is_of_blackwell(const cuda::GemmRung& rung) {
  return rung.entry.starts_with("gemm_cuda_4") || rung.entry.starts_with("gemm_cuda_5");
}

/// Persistent blocks process two tiles each, and half of the k of another if the rung splits it:
/// enough steps for every kind of step to reuse a stage. Alternating consumers process two tiles
/// each.
Setting setting_of(const cuda::GemmRung& rung) {
  if (dtype_of(rung) == Dtype::f64) return {128, 256, 130, {}, 1};  // every modulus reuses stages
  const auto tiles = cuda::tiles_of(rung, dtype_of(rung));
  if (is_few_rows(rung)) return {64, 72, 1800, {}, 3};
  // A k of three parts, which three blocks share in one of seven tiles.
  if (is_summed_parts(rung)) return {7 * 128, 128, 4160, {cuda::summed_tile::medium, 3}, 3};
  // One cluster of 2 x 1 blocks for five tiles, which reuse stages and the box of results.
  if (is_multicast(rung)) return {5 * 256, 160, 456, {1}, 2};
  // One tile for a cluster of two blocks, each with more steps than stages.
  if (rung.entry == "gemm_cuda_wgmma_cluster_split") return {104, 128, 1000, {0, 2}, 2};
  // Three tiles for a block or a pair, which use an accumulator in tensor memory again.
  if (is_of_blackwell(rung)) return {6 * 128, 200, 328, {}, 2};
  if (tiles.empty()) return {512, 512, 328, {}, 4};
  const auto smallest =
      std::min_element(tiles.begin(), tiles.end(),
                       [](const auto& a, const auto& b) { return a.BM * a.BN < b.BM * b.BN; });
  const int tile = static_cast<int>(smallest - tiles.begin());
  if (takes_turns(rung)) return {9 * smallest->BM, smallest->BN, 200, {tile}, 2};
  if (dtype_of(rung) == Dtype::e4m3) return {5 * smallest->BM, smallest->BN, 648, {tile}, 2};
  return {5 * smallest->BM, smallest->BN, 456, {tile, 2}, 2};
}

/// A setting for each entry that is mutated.
std::vector<Setting> entries_of(const cuda::GemmRung& rung) {
  if (!is_multicast(rung)) return {setting_of(rung)};
  // Tiles of the transposed product, in a cluster of 1 x 2 blocks.
  return {setting_of(rung), {5 * 160, 256, 456, {9}, 2}};
}

/// Each mutant of an entry is caught in one of these settings. If tiles are loaded in part, the
/// fence after their zeros replaces that of the mbarriers.
std::vector<Setting> settings_of(const cuda::GemmRung& rung, const Setting& whole) {
  if (!loads_short_tiles(rung)) return {whole};
  Setting part = whole;
  part.m = part.n = 40;
  if (!is_few_rows(rung)) return {whole, part};
  // Two splits of k, one for each block of a cluster, with more steps than stages.
  return {whole, part, {24, 40, 4160, {0, 2}, 3}};
}

/// beta. If it is not zero, wgmma_tiles and ping_pong also load C.
float beta_of(const cuda::GemmRung& rung) {
  return rung.entry == "gemm_cuda_wgmma_tiles" || takes_turns(rung) ? 1.0f : 0.0f;
}

std::string entry_name(const cuda::GemmRung& rung, const cuda::GemmConfig& config) {
  return cuda::kernel_of({0, "", &rung, config}, dtype_of(rung)).text();
}

/// A spec that replaces the matrix of a map by its halves, parts, digits, residues or blocks: zeros,
/// with the same accesses.
template <class Array>
cuda::TensorMapSpec halves_of(cuda::TensorMapSpec spec, const Array& array) {
  if (const BlockFormat format = cuda::block_format(spec); format != BlockFormat::none) {
    spec.element_bytes = 1;
    spec.row_length = spec.ld = cuda::QuantizeOperand::bytes_in_row(format, spec.row_length);
    spec.box_row_length = 128;
    spec.data = array(spec.rows * spec.ld, std::int8_t{0});
    return spec;
  }
  if (cuda::is_in_parts(spec)) {
    spec.row_length = spec.ld = cuda::SplitParts::parts_in_row(spec.row_length);
    spec.data = array(spec.rows * spec.ld, bfloat16(0.0f));
    return spec;
  }
  if (spec.is_in_digits) {
    const bool residues = spec.element_bytes == sizeof(double);
    spec.element_bytes = 1;
    spec.row_length = spec.ld = residues ? cuda::SplitResidues::bytes_in_row(spec.row_length)
                                         : cuda::SplitDigits::bytes_in_row(spec.row_length);
    spec.data = array(spec.rows * spec.ld, std::int8_t{0});
    return spec;
  }
  if (!spec.is_split) return spec;
  spec.element_bytes = sizeof(float16);
  spec.row_length = spec.ld = cuda::SplitOperand::halves_in_row(spec.row_length);
  spec.data = array(spec.rows * spec.ld, float16(0.0f));
  return spec;
}

/// Offsets of groups of `rows` rows in total: more groups than a warp counts at once, most of them
/// empty. The first of two blocks starts with a tile of few rows, and the second has such a tile
/// after a whole one.
std::vector<std::int32_t> ragged_offsets(std::int64_t rows) {
  std::vector<std::int32_t> offsets(40, 0);
  for (const std::int64_t end : {std::int64_t{3}, std::int64_t{3 + 138}, rows}) {
    offsets.push_back(static_cast<std::int32_t>(end));
  }
  return offsets;
}

/// The parameters of most kernels.
template <class In, class Out>
struct Plain {
  cuda::KernelArgs<In, Out> gemm;
};

/// Runs A B^T for matrices of ones. For a grouped rung, ragged groups with one B.
template <class In, class Out>
Outcome run_on(const Lines& lines, const cuda::GemmRung& rung, const Setting& setting) {
  vgpu::DeviceMemory memory(std::size_t{1} << 26);
  const auto array = [&]<class T>(std::int64_t count, T value) {
    const std::vector<T> values(static_cast<std::size_t>(count), value);
    const std::uint64_t address = memory.allocate(values.size() * sizeof(T));
    memory.write(address, values.data(), values.size() * sizeof(T));
    return reinterpret_cast<T*>(address);
  };
  const auto [m, n, k, config, multiprocessors] = setting;
  const std::int64_t products = rung.batches ? products_of_batch : 1;
  const Gemm<In, Out> gemm{m,
                           n,
                           k,
                           Scalar<Out>(1),
                           {array(products * m * k, In(1.0f)), k, 1},
                           {array(products * k * n, In(1.0f)), 1, k},
                           Scalar<Out>(beta_of(rung)),
                           {array(products * m * n, Out(1)), n, 1}};
  cuda::Launch launch = rung.launches.of<In, Out>()(gemm, config);
  if (rung.batches) launch.grid.x *= products;
  launch = cuda::fitted(launch, multiprocessors);
  const std::int64_t workspace_bytes = std::is_same_v<In, double>
                                           ? launch.grid.x * cuda::residues_of_tile_bytes
                                           : launch.workspace_bytes;
  constexpr bool has_block_scales = std::is_same_v<In, float8_e4m3>;
  std::conditional_t<has_block_scales, cuda::BlockScaledArgs, Plain<In, Out>> all;
  cuda::KernelArgs<In, Out>& args = all.gemm;
  args = {gemm, {config.splits, config.whole, array(workspace_bytes / 4 + 1, 0.0f)}};
  if constexpr (has_block_scales) {
    const std::int64_t blocks = k / BlockScales::steps + 1;
    all.scales = {array(m * blocks, 1.0f), blocks, 1, array(blocks, 1.0f), 1, 0, 0};
  }
  if (rung.batches) {
    args.products = {products, {m * k}, {k * n}, {m * n}};
    launch.a.products = launch.b.products = launch.c.products = products;
    launch.a.product_stride = m * k;
    launch.b.product_stride = k * n;
    launch.c.product_stride = m * n;
  }
  if (rung.groups) {
    const std::vector<std::int32_t> offsets = ragged_offsets(m);
    const std::int32_t* const at = array(std::ssize(offsets), std::int32_t{0});
    memory.write(reinterpret_cast<std::uint64_t>(at), offsets.data(), 4 * offsets.size());
    args.products = {.count = std::ssize(offsets) - 1, .offsets = at};
  }
  encode(halves_of(launch.a, array), args.maps.a);
  encode(halves_of(launch.b, array), args.maps.b);
  // Zeros. A kernel without tensor maps expects the halves before them.
  const auto scales = [&](const cuda::TensorMapSpec& spec, std::int64_t count) {
    const std::int64_t halves =
        spec.is_split ? cuda::bytes_of_halves(spec.rows, spec.row_length) : 0;
    const BlockFormat format = cuda::block_format(spec);
    const std::int64_t bytes =
        format == BlockFormat::none
            ? count * std::int64_t{sizeof(cuda::OperandScale)}
            : cuda::QuantizeOperand::bytes_of_scales(format, spec.row_length, spec.rows);
    return reinterpret_cast<const cuda::OperandScale*>(array(halves + bytes, std::int8_t{0}) +
                                                       halves);
  };
  if (launch.a.is_split || launch.b.is_split || launch.a.is_in_digits) {
    args.scales = {scales(launch.a, m), scales(launch.b, n)};
  }
  encode(launch.c, args.maps.c);

  return run_mutant(lines, entry_name(rung, config), options_of(launch), all, memory,
                    is_of_blackwell(rung) ? "b200" : "h200");
}

Outcome run_in(const Setting& setting, const Lines& lines, const cuda::GemmRung& rung) {
  switch (dtype_of(rung)) {
    case Dtype::bf16: return run_on<bfloat16, float>(lines, rung, setting);
    case Dtype::bf16_bf16: return run_on<bfloat16, bfloat16>(lines, rung, setting);
    case Dtype::f64: return run_on<double, double>(lines, rung, setting);
    case Dtype::e4m3: return run_on<float8_e4m3, float>(lines, rung, setting);
    default: return run_on<float, float>(lines, rung, setting);
  }
}

/// Runs the settings of an entry until one has hazards.
Outcome run(const Lines& lines, const cuda::GemmRung& rung, const Setting& entry) {
  Outcome all;
  for (const Setting& setting : settings_of(rung, entry)) {
    Outcome one = run_in(setting, lines, rung);
    all.hazards = std::move(one.hazards);
    all.lines.merge(one.lines);
    all.cluster = one.cluster;
    if (!all.hazards.empty()) break;
  }
  return all;
}

void mutate_rung(std::string_view id, const cuda::GemmRung& rung, Score& score) {
  for (const cuda::Image& image : cuda::images()) {
    if (image.id != id || image.code != cuda::Code::clang_ptx) continue;
    for (const Setting& entry : entries_of(rung)) {
      mutate(
          entry_of(unpacked(image.unit(dtype_of(rung))), entry_name(rung, entry.config)), id,
          [&](const Lines& lines) { return run(lines, rung, entry); }, score);
    }
  }
}

TEST(AsyncMutation, EveryMutantIsCaught) {
  Score score;
  for (const cuda::NamedGemmRung& named : cuda::gemm_rungs) {
    const bool has_tiles = !cuda::tiles_of(*named.rung, dtype_of(*named.rung)).empty();
    if (!named.rung->maps ||
        (has_tiles && std::ranges::find(with_tiles, named.id) == std::end(with_tiles)))
      continue;
    mutate_rung(named.id, *named.rung, score);
  }
  for (const cuda::ConfiguredGemm& kernel : {cuda::few_rows, cuda::summed_parts}) {
    mutate_rung(kernel.id, *kernel.rung, score);
  }
  EXPECT_GT(score.mutants, 0);
  std::printf("mutation score: %d of %d mutants caught\n", score.caught, score.mutants);
}

/// Detection of a missing release does not depend on the order of blocks and warps.
TEST(AsyncMutation, RelaxedReleasesAreCaughtInEveryOrder) {
  const cuda::NamedGemmRung& named =
      *std::ranges::find(cuda::gemm_rungs, "gemm/cuda/split_f16", &cuda::NamedGemmRung::id);
  const cuda::GemmRung& rung = *named.rung;
  const Setting setting = setting_of(rung);
  int mutants = 0;
  for (const cuda::Image& image : cuda::images()) {
    if (image.id != named.id || image.code != cuda::Code::clang_ptx) continue;
    const Lines lines =
        entry_of(unpacked(image.unit(dtype_of(rung))), entry_name(rung, setting.config));
    const Outcome right = run_in(setting, lines, rung);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (!releases(lines[i]) || !right.lines.contains(static_cast<int>(i) + 1)) continue;
      ++mutants;
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        vgpu::set_schedule(seed);
        EXPECT_FALSE(run_in(setting, relaxed(lines, i), rung).hazards.empty())
            << "seed " << seed << ", relaxed: " << lines[i];
        EXPECT_TRUE(run_in(setting, lines, rung).hazards.empty()) << "seed " << seed;
        vgpu::set_schedule(0);
      }
    }
  }
  EXPECT_GT(mutants, 0);
}

}  // namespace
}  // namespace rung
