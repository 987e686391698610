#include "library/cuda/weight_only_config.hpp"

#include <algorithm>
#include <cstddef>

#include "core/integers.hpp"
#include "device/cuda/epilogue/split_k.cuh"
#include "library/tuned/cuda.hpp"

namespace rung::cuda {
namespace {

bool is_of(const CudaGemmChoice& chosen, GemmRungIndex index) {
  return chosen.index == static_cast<std::size_t>(index);
}
bool streams(const CudaGemmChoice& chosen) {
  return is_of(chosen, GemmRungIndex::gemm_73_weight_stream);
}

/// The first half of a rung's tiles, for more and more rows, is for 4 bits.
int tiles_of_bits(const CudaGemmChoice& chosen) {
  return static_cast<int>(tiles_of(*chosen.rung, Dtype::bf16).size()) / 2;
}

/// The smallest tile that takes all rows of A at a time, or the largest that fits the GPU.
int tile_of(const WeightOnlyCall& call, CudaGemmChoice rung, const Limits& limits) {
  const int first = call.layout.bits == 8 ? tiles_of_bits(rung) : 0;
  int tile = first;
  const auto shape = [&]() -> const TileShape& {
    rung.config.tile = tile;
    return weight_only_tile(rung);
  };
  while (tile < first + tiles_of_bits(rung) - 1 && shape().BM < call.product.m) ++tile;
  while (tile > first && shape().shared_bytes > limits.shared_bytes) --tile;
  return tile;
}

/// What a k-block of a tile takes, in us on an H200, and what a block takes besides, in k-blocks: to start
/// and to store; and, where k is cut, to add up the parts, which write and read more in each wave.
struct BlockCost {
  double k_block, start, adding, adding_of_wave;
};
constexpr BlockCost mma = {1, 2, 3, 0}, wgmma = {0.5, 15, 6, 0}, wide_4_bits = {0.71, 7.7, 5, 5},
                    wide_8_bits = {0.85, 4, 5, 5}, widest_4_bits = {1.31, 6.3, 2.4, 2},
                    widest_8_bits = {1.46, 5.5, 2.4, 2};

const BlockCost& cost_of_block(const CudaGemmChoice& chosen) {
  if (!loads_by_tma(chosen)) return mma;
  const int rows = weight_only_tile(chosen).BM;
  if (rows <= 64) return wgmma;
  const bool has_8_bits = chosen.config.tile >= tiles_of_bits(chosen);
  if (rows == 128) return has_8_bits ? wide_8_bits : wide_4_bits;
  return has_8_bits ? widest_8_bits : widest_4_bits;
}

/// The time of a launch: waves of so many blocks at a time.
double cost_of(const BlockCost& cost, std::int64_t blocks, std::int64_t at_once,
               std::int64_t k_blocks, bool is_cut) {
  const auto waves = static_cast<double>(ceil_div(blocks, at_once));
  const double adding = is_cut ? cost.adding + waves * cost.adding_of_wave : 0;
  return cost.k_block * (waves * (static_cast<double>(k_blocks) + cost.start) + adding);
}

/// Parts of k of the tiles behind the first `whole` ones, and the time that a launch takes.
struct Parts {
  int splits;
  std::int64_t whole;
  double cost;
};

/// Those that blocks of rung 71 or 72 take least time with: of all tiles, or of those in a last wave that
/// is not full.
Parts best_parts(const CudaGemmChoice& chosen, const GemmCall& g, const Limits& limits) {
  const TileShape& tile = weight_only_tile(chosen);
  const std::int64_t tiles = weight_only_blocks(chosen, g, limits.multiprocessors).tiles;
  const std::int64_t k_blocks = ceil_div(g.k, WeightLayout::steps);
  const std::int64_t on_sm =
      std::clamp<std::int64_t>(limits.shared_bytes / tile.shared_bytes, 1, 2);
  const std::int64_t at_once = on_sm * limits.multiprocessors;
  const BlockCost& of_block = cost_of_block(chosen);
  Parts best = {1, 0, cost_of(of_block, tiles, at_once, k_blocks, false)};
  const std::int64_t in_full_waves = tiles / at_once * at_once;
  for (const std::int64_t whole : {std::int64_t{0}, in_full_waves}) {
    const std::int64_t cut = tiles - whole;
    if (cut == 0) break;
    const double before = cost_of(of_block, whole, at_once, k_blocks, false);
    const std::int64_t most =
        std::min({k_blocks, ceil_div(2 * at_once, cut), max_semaphores / cut});
    for (std::int64_t splits = 2; splits <= most; ++splits) {
      const GemmConfig config = {.tile = chosen.config.tile,
                                 .splits = static_cast<int>(splits),
                                 .whole = static_cast<int>(whole)};
      if (split_bytes<float>(tiles, std::int64_t{tile.BM} * tile.BN, config) >
          limits.workspace_bytes)
        break;
      const double cost =
          before + cost_of(of_block, cut * splits, at_once, ceil_div(k_blocks, splits), true);
      if (cost < best.cost) best = {config.splits, whole, cost};
    }
    if (in_full_waves == 0) break;  // the second time would be as the first
  }
  return best;
}

/// The rung with the fastest parts of k; rung 72 with more, smaller tiles, where larger ones would leave too
/// many SMs without one in their last wave.
CudaGemmChoice with_parts(CudaGemmChoice chosen, const GemmCall& g, const Limits& limits) {
  Parts best = best_parts(chosen, g, limits);
  CudaGemmChoice smaller = chosen;
  while (loads_by_tma(chosen) && weight_only_tile(smaller).BM > 64) {
    --smaller.config.tile;
    const Parts of_smaller = best_parts(smaller, g, limits);
    if (of_smaller.cost < best.cost) {
      best = of_smaller;
      chosen = smaller;
    }
  }
  chosen.config.splits = best.splits;
  chosen.config.whole = static_cast<int>(best.whole);
  return chosen;
}

/// Whether a block has room for it. Besides, rung 73 has a variable in static shared memory, and what lies
/// between that and the alignment of dynamic shared memory.
bool has_room(std::int64_t shared_bytes, const Limits& limits) {
  constexpr std::int64_t static_bytes = 1024;
  return shared_bytes + static_bytes <= limits.shared_bytes;
}

/// Rung 73 keeps a block's part of A in shared memory: as few parts of k as that has room for, but enough
/// for each SM to have a block, if each warp then still has a record.
int stream_splits(CudaGemmChoice chosen, const GemmCall& g, const Limits& limits) {
  const std::int64_t row_tiles = ceil_div(g.n, WeightLayout::rows);
  const std::int64_t k_blocks = ceil_div(g.k, WeightLayout::steps);
  const int warps = weight_only_tile(chosen).threads / 32;
  const std::int64_t idle = std::max<std::int64_t>(1, limits.multiprocessors / row_tiles);
  auto& splits = chosen.config.splits;
  splits = static_cast<int>(std::clamp<std::int64_t>(k_blocks / warps, 1, idle));
  const auto fits = [&] {
    return has_room(weight_only_blocks(chosen, g, limits.multiprocessors).shared_bytes, limits);
  };
  while (splits < k_blocks && !fits()) ++splits;
  return splits;
}

bool fits(const CudaGemmChoice& chosen, const GemmCall& g, const Limits& limits) {
  const TileShape& tile = weight_only_tile(chosen);
  const auto [tiles, shared_bytes] = weight_only_blocks(chosen, g, limits.multiprocessors);
  if (!has_room(shared_bytes, limits)) return false;
  return chosen.config.splits == 1 || (tiles - chosen.config.whole <= max_semaphores &&
                                       split_bytes<float>(tiles, std::int64_t{tile.BM} * tile.BN,
                                                          chosen.config) <= limits.workspace_bytes);
}

}  // namespace

const TileShape& weight_only_tile(const CudaGemmChoice& chosen) {
  return tiles_of(*chosen.rung, Dtype::bf16)[static_cast<std::size_t>(chosen.config.tile)];
}

bool loads_by_tma(const CudaGemmChoice& chosen) {
  return is_of(chosen, GemmRungIndex::gemm_72_weight_only_wgmma);
}

bool may_start_early(const CudaGemmChoice& chosen, int arch) {
  return loads_by_tma(chosen) || (streams(chosen) && arch >= 90);
}

WeightOnlyBlocks weight_only_blocks(const CudaGemmChoice& chosen, const GemmCall& g,
                                    int multiprocessors) {
  const TileShape& tile = weight_only_tile(chosen);
  const std::int64_t few_tiles = ceil_div(g.m, tile.BM);
  if (!streams(chosen)) return {few_tiles * ceil_div(g.n, tile.BN), tile.shared_bytes};
  // Whole waves of blocks, one for each SM, which have as many rows of the weights as others, or 16 more.
  const std::int64_t row_tiles = ceil_div(g.n, WeightLayout::rows);
  const std::int64_t wave = std::max(1, multiprocessors / chosen.config.splits);
  const std::int64_t waves = ceil_div(row_tiles, wave * (tile.BN / WeightLayout::rows));
  const std::int64_t each = ceil_div(row_tiles, waves * wave);
  const std::int64_t steps =
      round_up(ceil_div(g.k, chosen.config.splits), std::int64_t{WeightLayout::steps});
  const std::int64_t row_bytes = 2 * steps + 16;
  return {few_tiles * ceil_div(row_tiles, each),
          tile.shared_bytes + std::min<std::int64_t>(g.m, tile.BM) * row_bytes};
}

CudaGemmChoice choose_weight_only(const WeightOnlyCall& call, int arch, const Limits& limits) {
  const GemmCall& g = call.product;
  CudaGemmChoice chosen;
  for (const CudaGemmRule& rule : tuned::cuda_weight_only_rules) {
    if (arch < rule.min_arch || arch > rule.max_arch || g.m < rule.min_m || g.m > rule.max_m ||
        g.k < rule.min_k)
      continue;
    const auto index = static_cast<std::size_t>(rule.use);
    chosen = {index, gemm_rungs[index].id, gemm_rungs[index].rung};
    chosen.config.tile = tile_of(call, chosen, limits);
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
