// The kernel for a product by packed weights, and the parts into which it cuts k.

#include <algorithm>
#include <cstddef>

#include "core/integers.hpp"
#include "device/cuda/cost/weight_only.hpp"
#include "device/cuda/epilogue/split_k.cuh"
#include "device/weight_layout.hpp"
#include "select/cuda/select.hpp"
#include "select/cuda/tables.hpp"

namespace rung::cuda {
namespace {

bool is_of(const CudaGemmChoice& chosen, GemmRungIndex index) {
  return chosen.index == static_cast<std::size_t>(index);
}
bool streams(const CudaGemmChoice& chosen) {
  return is_of(chosen, GemmRungIndex::gemm_weight_stream);
}

/// The first half of a rung's tiles, in ascending order of their rows, is for 4 bits.
int tiles_of_bits(const CudaGemmChoice& chosen) {
  return static_cast<int>(tiles_of(*chosen.rung, Dtype::bf16).size()) / 2;
}

/// The smallest tile that takes all rows of A at a time, or the largest that fits the GPU.
int tile_of(std::int64_t m, int bits, CudaGemmChoice rung, const Limits& limits) {
  const int first = bits == 8 ? tiles_of_bits(rung) : 0;
  int tile = first;
  const auto shape = [&]() -> const TileShape& {
    rung.config.tile = tile;
    return weight_only_tile(rung);
  };
  while (tile < first + tiles_of_bits(rung) - 1 && shape().BM < m) ++tile;
  while (tile > first && shape().shared_bytes > limits.shared_bytes) --tile;
  return tile;
}

WeightOnlyCost cost_of_block(const CudaGemmChoice& chosen) {
  if (!loads_by_tma(chosen)) return mma_weight_cost;
  return wgmma_weight_cost(weight_only_tile(chosen).BM,
                           chosen.config.tile >= tiles_of_bits(chosen));
}

/// Parts of k of the tiles after the first `whole` ones, and the time of the launch.
struct Parts {
  int splits;
  std::int64_t whole;
  double time;
};

/// The fastest parts for weight_only or weight_only_wgmma: of all tiles, or of those in a last wave that is not full.
Parts best_parts(const CudaGemmChoice& chosen, const GemmCall& g, const Limits& limits) {
  const TileShape& tile = weight_only_tile(chosen);
  const std::int64_t tiles = weight_only_blocks(chosen, g, limits.multiprocessors).tiles;
  const std::int64_t k_blocks = ceil_div(g.k, WeightLayout::steps);
  const std::int64_t on_sm =
      std::clamp<std::int64_t>(limits.shared_bytes / tile.shared_bytes, 1, 2);
  const std::int64_t at_once = on_sm * limits.multiprocessors;
  const WeightOnlyCost cost = cost_of_block(chosen);
  Parts best = {1, 0, cost.of(tiles, at_once, k_blocks, false)};
  const std::int64_t in_full_waves = tiles / at_once * at_once;
  for (const std::int64_t whole : {std::int64_t{0}, in_full_waves}) {
    const std::int64_t cut = tiles - whole;
    if (cut == 0) break;
    const double before = cost.of(whole, at_once, k_blocks, false);
    const std::int64_t most =
        std::min({k_blocks, ceil_div(2 * at_once, cut), max_semaphores / cut});
    for (std::int64_t splits = 2; splits <= most; ++splits) {
      const GemmConfig config = {.tile = chosen.config.tile,
                                 .splits = static_cast<int>(splits),
                                 .whole = static_cast<int>(whole)};
      if (split_bytes<float>(tiles, std::int64_t{tile.BM} * tile.BN, config) >
          limits.workspace_bytes)
        break;
      const double time = before + cost.of(cut * splits, at_once, ceil_div(k_blocks, splits), true);
      if (time < best.time) best = {config.splits, whole, time};
    }
    if (in_full_waves == 0) break;  // the second iteration would be the same
  }
  return best;
}

/// The rung with the fastest parts of k. weight_only_wgmma takes more, smaller tiles if larger ones would leave
/// too many SMs idle in the last wave.
CudaGemmChoice with_parts(CudaGemmChoice chosen, const GemmCall& g, const Limits& limits) {
  Parts best = best_parts(chosen, g, limits);
  CudaGemmChoice smaller = chosen;
  while (loads_by_tma(chosen) && weight_only_tile(smaller).BM > 64) {
    --smaller.config.tile;
    const Parts of_smaller = best_parts(smaller, g, limits);
    if (of_smaller.time < best.time) {
      best = of_smaller;
      chosen = smaller;
    }
  }
  chosen.config.splits = best.splits;
  chosen.config.whole = static_cast<int>(best.whole);
  return chosen;
}

/// weight_stream keeps a block's part of A in shared memory: the fewest parts of k for which there is room, but
/// enough to give each SM a block as long as each warp still has a record.
int stream_splits(CudaGemmChoice chosen, const GemmCall& g, const Limits& limits) {
  const std::int64_t row_tiles = ceil_div(g.n, WeightLayout::rows);
  const std::int64_t k_blocks = ceil_div(g.k, WeightLayout::steps);
  const int warps = weight_only_tile(chosen).threads / 32;
  const std::int64_t idle = std::max<std::int64_t>(1, limits.multiprocessors / row_tiles);
  auto& splits = chosen.config.splits;
  splits = static_cast<int>(std::clamp<std::int64_t>(k_blocks / warps, 1, idle));
  const auto fits = [&] {
    return has_weight_room(weight_only_blocks(chosen, g, limits.multiprocessors).shared_bytes,
                           limits.shared_bytes);
  };
  while (splits < k_blocks && !fits()) ++splits;
  return splits;
}

bool fits(const CudaGemmChoice& chosen, const GemmCall& g, const Limits& limits) {
  const TileShape& tile = weight_only_tile(chosen);
  const auto [tiles, shared_bytes] = weight_only_blocks(chosen, g, limits.multiprocessors);
  if (!has_weight_room(shared_bytes, limits.shared_bytes)) return false;
  return chosen.config.splits == 1 || (tiles - chosen.config.whole <= max_semaphores &&
                                       split_bytes<float>(tiles, std::int64_t{tile.BM} * tile.BN,
                                                          chosen.config) <= limits.workspace_bytes);
}

}  // namespace

const TileShape& weight_only_tile(const CudaGemmChoice& chosen) {
  return tiles_of(*chosen.rung, Dtype::bf16)[static_cast<std::size_t>(chosen.config.tile)];
}

bool loads_by_tma(const CudaGemmChoice& chosen) {
  return is_of(chosen, GemmRungIndex::gemm_weight_only_wgmma);
}

bool may_start_early(const CudaGemmChoice& chosen, int arch) {
  return loads_by_tma(chosen) || (streams(chosen) && arch >= 90);
}

WeightOnlyBlocks weight_only_blocks(const CudaGemmChoice& chosen, const GemmCall& g,
                                    int multiprocessors) {
  const TileShape& tile = weight_only_tile(chosen);
  if (streams(chosen)) {
    return weight_stream_blocks(g.m, g.n, g.k, tile, chosen.config.splits, multiprocessors);
  }
  return {ceil_div(g.m, tile.BM) * ceil_div(g.n, tile.BN), tile.shared_bytes};
}

CudaGemmChoice choose_weight_only(const GemmCall& g, int bits, int arch, const Limits& limits) {
  CudaGemmChoice chosen;
  for (const CudaGemmRule& rule : tuned::cuda_weight_only_rules) {
    if (!admits(rule, g.dtype, arch) || g.m < rule.min_m || g.m > rule.max_m || g.k < rule.min_k) {
      continue;
    }
    const auto index = static_cast<std::size_t>(rule.use);
    chosen = {index, gemm_rungs[index].id, gemm_rungs[index].rung};
    chosen.config.tile = tile_of(g.m, bits, chosen, limits);
    if (streams(chosen)) {
      chosen.config.splits = stream_splits(chosen, g, limits);
    } else {
      chosen = with_parts(chosen, g, limits);
    }
    if (fits(chosen, g, limits)) break;
  }
  return chosen;
}

}  // namespace rung::cuda
