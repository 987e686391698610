#include "library/cuda/invariant_config.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "backends/cuda/prepared_gemm.hpp"
#include "core/integers.hpp"
#include "device/cuda/tile/invariant_parts.hpp"
#include "library/cuda/tile_numbers.hpp"

namespace rung::cuda {
namespace {

const TileShape& shape_of(const CudaGemmChoice& kernel, Dtype dtype, int tile) {
  return tiles_of(*kernel.rung, dtype)[static_cast<std::size_t>(tile)];
}

/// How many clusters run at a time. A GPC has at least 16 SMs, which clusters of more than two
/// blocks do not always fill.
std::int64_t clusters_at_a_time(int multiprocessors, int blocks) {
  constexpr int of_gpc = 16;
  const int clusters =
      blocks <= 2 ? multiprocessors / blocks : multiprocessors / of_gpc * (of_gpc / blocks);
  return std::max(clusters, 1);
}

/// The time of a launch of few_rows with `blocks` for each tile, without a constant, in 0.01 us on
/// an H200.
int cost_of_few_rows(int tile, std::int64_t n, std::int64_t k, int blocks, int multiprocessors) {
  const std::int64_t columns = shape_of(few_rows, Dtype::bf16, tile).BN;
  const int of_256_steps = tile == few_rows_tile::narrow ? 42 : 51;
  constexpr int of_wave = 187, of_sums = 136;
  const std::int64_t parts = invariant_parts(k);
  const std::int64_t steps = ceil_div(parts, blocks) * ceil_div(ceil_div(k, parts), 256);
  const std::int64_t waves =
      ceil_div(ceil_div(n, columns), clusters_at_a_time(multiprocessors, blocks));
  return static_cast<int>(waves * (steps * of_256_steps + of_wave)) + (blocks > 1 ? of_sums : 0);
}

std::int64_t tiles_in(const GemmCall& g, const TileShape& tile) {
  return ceil_div(g.m, tile.BM) * ceil_div(g.n, tile.BN);
}

/// The most parts of a tile that blocks may share: SplitKReduction adds more than four as a tree,
/// not in ascending order.
constexpr int most_shared_parts = 4;

/// Rung 31 with a block for each part of each tile, if all blocks run at a time: with the smallest
/// tiles for which they do.
std::optional<CudaGemmChoice> shared_parts(const WorkspaceSource& workspace, CudaGemmChoice rung_31,
                                           const GemmCall& g, const Limits& limits) {
  const int parts = invariant_parts(g.k);
  if (parts > most_shared_parts) return std::nullopt;
  const auto tiles = tiles_of(*rung_31.rung, g.dtype);
  const TileShape* smallest = nullptr;
  for (const TileShape& tile : tiles) {
    const bool fits = tile.cluster == 1 && tiles_in(g, tile) * parts <= limits.multiprocessors;
    if (!fits || (smallest != nullptr && smallest->BM * smallest->BN <= tile.BM * tile.BN))
      continue;
    smallest = &tile;
  }
  if (smallest == nullptr) return std::nullopt;
  rung_31.config = {.tile = static_cast<int>(smallest - tiles.data()), .splits = parts};
  if (!fits(workspace, launch_of(rung_31, g))) return std::nullopt;
  return rung_31;
}

/// The configuration of summed_parts with the shortest waves. Each tile of the last wave has a
/// block for each part, if all these blocks run at a time. TileScheduler then cuts k where the
/// parts begin.
GemmConfig fastest_waves(const GemmCall& g, bool may_share, int multiprocessors) {
  // Of a k-block: larger tiles take less for each element.
  constexpr int of_wide = 100, of_medium = 72;
  const int parts = invariant_parts(g.k);
  GemmConfig best;
  std::int64_t least = 0;
  for (const int tile : {summed_tile::wide, summed_tile::medium}) {
    const std::int64_t count = tiles_in(g, shape_of(summed_parts, g.dtype, tile));
    const std::int64_t left = count % multiprocessors;
    const bool shares = may_share && left > 0 && left * parts <= multiprocessors;
    const std::int64_t of_last_wave = shares ? 1 : left > 0 ? parts : 0;
    const std::int64_t time = (count / multiprocessors * parts + of_last_wave) *
                              (tile == summed_tile::wide ? of_wide : of_medium);
    if (least > 0 && time >= least) continue;
    least = time;
    best = {.tile = tile, .splits = shares ? parts : 1};
  }
  return best;
}

CudaGemmChoice with_summed_parts(const WorkspaceSource& workspace, const GemmCall& g,
                                 const Limits& limits) {
  CudaGemmChoice choice = summed_parts;
  const bool may_share = invariant_parts(g.k) <= most_shared_parts;
  choice.config = fastest_waves(g, may_share, limits.multiprocessors);
  if (!fits(workspace, fitted(launch_of(choice, g), limits.multiprocessors))) {
    choice.config = fastest_waves(g, false, limits.multiprocessors);
  }
  return choice;
}

/// That of mode batch_invariant.
CudaGemmChoice invariant_config(const WorkspaceSource& workspace, const CudaGemmChoice& chosen,
                                const GemmCall& problem, const Limits& limits) {
  if (chosen.index == few_rows.index) {
    CudaGemmChoice choice = chosen;
    choice.config =
        few_rows_config(problem.n, problem.k, problem.b.row_stride == 1, limits.multiprocessors);
    return choice;
  }
  if (has(*summed_parts.rung, problem.dtype) && invariant_parts(problem.k) > 1) {
    const auto shared = shared_parts(workspace, chosen, problem, limits);
    return shared ? *shared : with_summed_parts(workspace, problem, limits);
  }
  Limits uncut = limits;
  uncut.workspace_bytes = -1;  // no split-K: the first m that it pays for would show in the bits
  return workspace.context.configured(chosen, problem, uncut);
}

}  // namespace

GemmConfig few_rows_config(std::int64_t n, std::int64_t k, bool b_is_k_major, int multiprocessors) {
  GemmConfig best;
  int least = std::numeric_limits<int>::max();
  const auto try_tile = [&](int tile) {
    for (int blocks = 1; blocks <= std::min(invariant_parts(k), most_few_rows_ranks); ++blocks) {
      if (blocks > 1 && ceil_div(invariant_parts(k), blocks) > parts_of_follower) continue;
      const int cost = cost_of_few_rows(tile, n, k, blocks, multiprocessors);
      if (cost < least) least = cost, best = {.tile = tile, .splits = blocks};
    }
  };
  if (!b_is_k_major) {
    try_tile(few_rows_tile::mn_major);
  } else {
    try_tile(few_rows_tile::narrow);
    try_tile(few_rows_tile::wide);
  }
  return best;
}

CudaGemmChoice config_in_mode(const WorkspaceSource& workspace, const CudaGemmChoice& chosen,
                              const GemmCall& problem, const Limits& limits) {
  return is_batch_invariant(problem.dtype, problem.compute_mode)
             ? invariant_config(workspace, chosen, problem, limits)
             : workspace.context.configured(chosen, problem, limits);
}

}  // namespace rung::cuda
