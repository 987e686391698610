#include "library/cuda/weight_only_config.hpp"

#include <algorithm>
#include <cstddef>

#include "core/integers.hpp"
#include "device/cuda/epilogue/split_k.cuh"
#include "library/tuned/cuda.hpp"

namespace rung::cuda {
namespace {

/// For 4 bits so many tiles, for more and more rows of A, then as many for 8.
constexpr int tiles_of_bits = 3;

CudaGemmChoice rung_of(const WeightOnlyCall& call, int arch) {
  for (const CudaGemmRule& rule : tuned::cuda_weight_only_rules) {
    const GemmCall& g = call.product;
    if (arch < rule.min_arch || arch > rule.max_arch || g.m < rule.min_m || g.k < rule.min_k)
      continue;
    const auto index = static_cast<std::size_t>(rule.use);
    return {index, gemm_rungs[index].id, gemm_rungs[index].rung};
  }
  return {};
}

/// The smallest tile that takes all rows of A at a time, or the largest that fits the GPU.
int tile_of(const WeightOnlyCall& call, CudaGemmChoice rung, const Limits& limits) {
  const int first = call.layout.bits == 8 ? tiles_of_bits : 0;
  int tile = first;
  const auto shape = [&]() -> const TileShape& {
    rung.config.tile = tile;
    return weight_only_tile(rung);
  };
  while (tile < first + tiles_of_bits - 1 && shape().BM < call.product.m) ++tile;
  while (tile > first && shape().shared_bytes > limits.shared_bytes) --tile;
  return tile;
}

/// The time of a launch in k-blocks of one block: waves of so many blocks at a time, and what a block
/// takes besides its k-blocks.
double cost_of(std::int64_t blocks, std::int64_t at_once, std::int64_t k_blocks, bool is_cut) {
  constexpr double start = 2, adding = 3;
  const auto waves = static_cast<double>(ceil_div(blocks, at_once));
  return waves * (static_cast<double>(k_blocks) + start) + (is_cut ? adding : 0);
}

}  // namespace

const TileShape& weight_only_tile(const CudaGemmChoice& chosen) {
  return tiles_of(*chosen.rung, Dtype::bf16)[static_cast<std::size_t>(chosen.config.tile)];
}

bool loads_by_tma(const CudaGemmChoice& chosen) {
  return chosen.index == static_cast<std::size_t>(GemmRungIndex::gemm_72_weight_only_wgmma);
}

CudaGemmChoice choose_weight_only(const WeightOnlyCall& call, int arch, const Limits& limits) {
  CudaGemmChoice chosen = rung_of(call, arch);
  chosen.config.tile = tile_of(call, chosen, limits);
  const GemmCall& g = call.product;
  const TileShape& tile = weight_only_tile(chosen);
  const std::int64_t tiles = ceil_div(g.m, tile.BM) * ceil_div(g.n, tile.BN);
  const std::int64_t k_blocks = ceil_div(g.k, WeightLayout::steps);
  const std::int64_t on_sm =
      std::clamp<std::int64_t>(limits.shared_bytes / tile.shared_bytes, 1, 2);
  const std::int64_t at_once = on_sm * limits.multiprocessors;
  const std::int64_t most =
      std::min({k_blocks, ceil_div(2 * at_once, tiles), max_semaphores / tiles});
  double least = cost_of(tiles, at_once, k_blocks, false);
  for (std::int64_t splits = 2; splits <= most; ++splits) {
    const GemmConfig config = {.tile = chosen.config.tile, .splits = static_cast<int>(splits)};
    if (split_bytes<float>(tiles, std::int64_t{tile.BM} * tile.BN, config) > limits.workspace_bytes)
      break;
    const double cost = cost_of(tiles * splits, at_once, ceil_div(k_blocks, splits), true);
    if (cost >= least) continue;
    least = cost;
    chosen.config.splits = static_cast<int>(splits);
  }
  return chosen;
}

}  // namespace rung::cuda
