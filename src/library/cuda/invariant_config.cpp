#include "library/cuda/invariant_config.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "backends/cuda/prepared_gemm.hpp"
#include "core/integers.hpp"
#include "device/cuda/tile/invariant_parts.hpp"
#include "library/tuned/cuda.hpp"
#include "rung/error.hpp"

namespace rung::cuda {
namespace {

/// How many clusters run at a time. Those of more than two blocks share the 16 SMs that a GPC has at least.
std::int64_t clusters_at_a_time(int multiprocessors, int blocks) {
  constexpr int of_gpc = 16;
  const int clusters =
      blocks <= 2 ? multiprocessors / blocks : multiprocessors / of_gpc * (of_gpc / blocks);
  return std::max(clusters, 1);
}

/// The time of a launch of few_rows, in that of 256 steps of a tile, about 0.25 us on an H200: so many for
/// each wave, and to add up the sums of several blocks.
std::int64_t cost_of_few_rows(std::int64_t n, std::int64_t k, int multiprocessors, int blocks) {
  constexpr std::int64_t columns = 32, steps = 256, of_wave = 4, of_sums = 3;
  const std::int64_t waves =
      ceil_div(ceil_div(n, columns), clusters_at_a_time(multiprocessors, blocks));
  const int parts = invariant_parts(k);
  const std::int64_t stages = ceil_div(parts, blocks) * ceil_div(ceil_div(k, parts), steps);
  return waves * (stages + of_wave) + (blocks > 1 ? of_sums : 0);
}

std::int64_t tiles_in(const GemmCall& g, const TileShape& tile) {
  return ceil_div(g.m, tile.BM) * ceil_div(g.n, tile.BN);
}

/// Rung 31 with a block for each part of each tile, if all run at a time: with its smallest tiles for
/// that. It adds up to four parts in their order.
std::optional<CudaGemmChoice> shared_parts(const WorkspaceSource& workspace, CudaGemmChoice rung_31,
                                           const GemmCall& g, const Limits& limits) {
  const int parts = invariant_parts(g.k);
  if (parts > 4) return std::nullopt;
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

/// The tile of summed_parts with the shortest waves. A k-block of 128 x 256 takes as long as the tensor
/// cores do, those of smaller tiles somewhat longer.
int fastest_tile(const GemmCall& g, int multiprocessors) {
  constexpr int times[] = {100, 78, 56};  // of a k-block
  const auto tiles = tiles_of(*summed_parts.rung, g.dtype);
  const auto time = [&](std::size_t tile) {
    return ceil_div(tiles_in(g, tiles[tile]), multiprocessors) * times[tile];
  };
  std::size_t best = 0;
  for (std::size_t tile = 1; tile < tiles.size(); ++tile) {
    if (time(tile) < time(best)) best = tile;
  }
  return static_cast<int>(best);
}

[[noreturn]] void refuse_workspace(std::int64_t bytes, std::int64_t k, std::int64_t needed) {
  throw Error(Status::invalid_argument,
              "rung: gemm: the workspace has " + std::to_string(bytes) +
                  " bytes; in mode batch_invariant with k = " + std::to_string(k) +
                  ", it must have at least " + std::to_string(needed));
}

/// Each block needs room for the sums of a tile: on as many SMs as that is there for.
InvariantConfig with_summed_parts(const WorkspaceSource& workspace, const GemmCall& g,
                                  const Limits& limits) {
  CudaGemmChoice choice = summed_parts;
  int multiprocessors = limits.multiprocessors;
  choice.config.tile = fastest_tile(g, multiprocessors);
  while (true) {
    const Launch launch = fitted(launch_of(choice, g), multiprocessors);
    if (fits(workspace, launch)) return {choice, multiprocessors};
    if (multiprocessors == 1) {
      const std::int64_t needed = round_up(launch.workspace_bytes, 256) + packed_bytes(launch);
      refuse_workspace(workspace.bytes(), g.k, needed);
    }
    choice.config.tile = static_cast<int>(tiles_of(*choice.rung, g.dtype).size()) - 1;
    --multiprocessors;
  }
}

}  // namespace

int blocks_of_few_rows(std::int64_t n, std::int64_t k, int multiprocessors) {
  const int parts = invariant_parts(k);
  int best = 1;
  std::int64_t least = cost_of_few_rows(n, k, multiprocessors, best);
  for (int blocks = 2; blocks <= std::min(parts, most_few_rows_ranks); ++blocks) {
    if (ceil_div(parts, blocks) > parts_of_follower) continue;
    const std::int64_t cost = cost_of_few_rows(n, k, multiprocessors, blocks);
    if (cost < least) least = cost, best = blocks;
  }
  return best;
}

InvariantConfig invariant_config(const WorkspaceSource& workspace, const CudaGemmChoice& chosen,
                                 const GemmCall& problem, const Limits& limits) {
  if (chosen.index == few_rows.index) {
    CudaGemmChoice choice = chosen;
    choice.config.splits = blocks_of_few_rows(problem.n, problem.k, limits.multiprocessors);
    return {choice, limits.multiprocessors};
  }
  if (has(*summed_parts.rung, problem.dtype) && invariant_parts(problem.k) > 1) {
    if (const auto shared = shared_parts(workspace, chosen, problem, limits)) {
      return {*shared, limits.multiprocessors};
    }
    return with_summed_parts(workspace, problem, limits);
  }
  Limits uncut = limits;
  uncut.workspace_bytes = -1;  // no split-K: the first m that it pays for would show in the bits
  return {workspace.context.configured(chosen, problem, uncut), limits.multiprocessors};
}

}  // namespace rung::cuda
