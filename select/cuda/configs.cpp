// Configurations of the kernels of mode batch_invariant, and of those with an epilogue.

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/integers.hpp"
#include "device/cuda/cost/fused_epilogue.hpp"
#include "device/cuda/cost/invariant.hpp"
#include "select/cuda/models.hpp"
#include "select/cuda/select.hpp"

namespace rung::cuda {
namespace {

const TileShape& shape_of(const CudaGemmChoice& kernel, Dtype dtype, int tile) {
  return tiles_of(*kernel.rung, dtype)[static_cast<std::size_t>(tile)];
}

std::int64_t tiles_in(const GemmCall& g, const TileShape& tile) {
  return ceil_div(g.m, tile.BM) * ceil_div(g.n, tile.BN);
}

/// Rung 31 with a block for each part of each tile, if all blocks run at a time: with the smallest tiles for
/// which they do.
std::optional<CudaGemmChoice> shared_parts(CudaGemmChoice rung_31, const GemmCall& g,
                                           const Limits& limits) {
  const int parts = invariant_parts(g.k);
  if (parts > max_shared_parts) return std::nullopt;
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
  return rung_31;
}

/// summed_parts with the shortest waves.
CudaGemmChoice fastest_waves(const GemmCall& g, bool may_share, int multiprocessors) {
  const int parts = invariant_parts(g.k);
  CudaGemmChoice best = summed_parts;
  std::int64_t least = 0;
  for (const int tile : {summed_tile::wide, summed_tile::medium}) {
    const std::int64_t tiles = tiles_in(g, shape_of(summed_parts, g.dtype, tile));
    const auto [shares, time] = summed_waves(tile, tiles, parts, may_share, multiprocessors);
    if (least > 0 && time >= least) continue;
    least = time;
    best.config = {.tile = tile, .splits = shares ? parts : 1};
  }
  return best;
}

}  // namespace

GemmConfig few_rows_config(std::int64_t n, std::int64_t k, bool b_is_k_major, int multiprocessors) {
  GemmConfig best;
  int least = std::numeric_limits<int>::max();
  const auto try_tile = [&](int tile) {
    const int columns = shape_of(few_rows, Dtype::bf16, tile).BN;
    for (int blocks = 1; blocks <= std::min(invariant_parts(k), max_few_rows_ranks); ++blocks) {
      if (blocks > 1 && ceil_div(invariant_parts(k), blocks) > parts_of_follower) continue;
      const int cost = few_rows_cost(tile, columns, n, k, blocks, multiprocessors);
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

Candidates invariant_candidates(const CudaGemmChoice& chosen, const GemmCall& problem,
                                const Limits& limits) {
  Candidates found;
  if (chosen.index == few_rows.index) {
    CudaGemmChoice choice = chosen;
    choice.config =
        few_rows_config(problem.n, problem.k, problem.b.row_stride == 1, limits.multiprocessors);
    found.add(choice);
  } else if (has(*summed_parts.rung, problem.dtype) && invariant_parts(problem.k) > 1) {
    if (const auto shared = shared_parts(chosen, problem, limits)) found.add(*shared);
    const bool may_share = invariant_parts(problem.k) <= max_shared_parts;
    found.add(fastest_waves(problem, may_share, limits.multiprocessors));
    found.add(fastest_waves(problem, false, limits.multiprocessors));
  }
  return found;
}

namespace {

/// Times on an H200 (docs/notes/cuda-kernels.md).
WaveModel waves_of(std::vector<WaveTimes> tiles) {
  return {.rung = "gemm/cuda/fused_epilogue",
          .idle_share = 0.785,
          .meeting = 2.44,
          .part = 0,
          .shared_byte = 0.151e-6,
          .byte = 0.361e-6,
          .odd_byte = 0.142e-6,
          .odd_result = 0,
          .tiles = std::move(tiles)};
}
/// Tiles for common parts, fitted to 967 times of 40 random shapes with a bias, or with bias and gelu.
const WaveModel common_in_turn = waves_of({{128, 128, 1, 0.368, 1.35}});
const WaveModel common_shared = waves_of({{128, 256, 1, 0.694, 3.33},
                                          {192, 128, 1, 0.544, 2.04},
                                          {64, 64, 1, 0.179, 0.90},
                                          {128, 128, 1, 0.359, 1.91},
                                          {64, 128, 1, 0.224, 1.50},
                                          {128, 256, 2, 0.708, 3.53}});
/// Tiles for all parts, fitted to 593 times of 24 shapes with gelu_erf, results in float, gated results, and
/// operands in e4m3.
const WaveModel all_in_turn = waves_of({{128, 128, 1, 0.377, 4.30}, {64, 192, 1, 0.32, 3.3}});
const WaveModel all_shared = waves_of({{128, 128, 1, 0.375, 4.37},
                                       {64, 128, 1, 0.263, 2.45},
                                       {64, 64, 1, 0.199, 1.70},
                                       {128, 256, 1, 0.759, 8.12}});

/// The configuration of the shortest expected time among the tiles in [first, last) for which `serves` is
/// true.
template <class Serves>
GemmConfig least_of(int first, std::ptrdiff_t last, const WaveModel& in_turn,
                    const WaveModel& shared, Dtype dtype, const GemmSize& size,
                    const OddRows& odd_rows, const Limits& limits, const Serves& serves) {
  const auto tiles = tiles_of(*fused_epilogue.rung, dtype);
  GemmConfig best;
  double least = std::numeric_limits<double>::infinity();
  for (int i = first; i < std::min(last, std::ssize(tiles)); ++i) {
    const TileShape& tile = tiles[static_cast<std::size_t>(i)];
    if (!serves(i, tile)) continue;
    const auto [splits, expected] =
        predicted_splits(is_in_turn(i) ? in_turn : shared, tile, dtype, size, !is_in_turn(i),
                         limits.multiprocessors, odd_rows);
    if (expected >= least) continue;
    best = {.tile = i, .splits = splits};
    least = expected;
  }
  return best;
}

}  // namespace

GemmConfig fused_config(Dtype dtype, const GemmSize& size, ElementType out, bool gated,
                        const OddRows& odd_rows, const Limits& limits) {
  return least_of(
      0, first_common_tile, all_in_turn, all_shared, dtype, size, odd_rows, limits,
      [&](int i, const TileShape& tile) { return stores_results(i, tile, out, gated); });
}

GemmConfig common_config(Dtype dtype, const GemmSize& size, const OddRows& odd_rows,
                         const Limits& limits) {
  return least_of(first_common_tile, std::numeric_limits<std::ptrdiff_t>::max(), common_in_turn,
                  common_shared, dtype, size, odd_rows, limits,
                  [](int, const TileShape&) { return true; });
}

}  // namespace rung::cuda
