#pragma once
// few_rows and summed_parts, the kernels of mode batch_invariant for elements of 16 bits
// (device/cuda/library/): their tiles, what few_rows accepts, and costs fitted on an H200.

#include <algorithm>
#include <cstdint>

#include "core/integers.hpp"
#include "device/cuda/cost/gemm_shape.hpp"
#include "device/cuda/tile/invariant_parts.hpp"

namespace rung::cuda {

/// Tiles of few_rows.cu: narrow or wide for a K-major B, mn_major for another one.
namespace few_rows_tile {
inline constexpr int narrow = 0, wide = 1, mn_major = 2;
}

/// Tiles of summed_parts.cu.
namespace summed_tile {
inline constexpr int wide = 0, medium = 1;
}

/// The tile of gemm/cuda/grouped.cu that sums parts of k.
namespace grouped_tile {
inline constexpr int in_parts = 2;
}

/// The most parts of a tile that blocks of summed_parts, or of rung 31, may share: SplitKReduction adds more
/// than four as a tree, not in ascending order.
inline constexpr int max_shared_parts = 4;

/// True if few_rows accepts the operands.
inline bool few_rows_accepts(const CudaGemmShape& shape) {
  constexpr std::int64_t max_rows = 64;
  return shape.arch == 90 && shape.m <= max_rows && shape.a == Order::row_major &&
         shape.alignment_of_ab >= 16;
}

/// True if few_rows is faster than rung 31: with more than one wave of its tiles, only if k is cut.
constexpr bool few_rows_pays(std::int64_t n, std::int64_t k, int columns_of_tile) {
  constexpr std::int64_t multiprocessors = 132;
  return n <= multiprocessors * columns_of_tile || invariant_parts(k) > 1;
}

/// The number of clusters that run at a time. A GPC has at least 16 SMs, which clusters of more than two blocks do not
/// always fill.
constexpr std::int64_t clusters_at_a_time(int multiprocessors, int blocks) {
  constexpr int of_gpc = 16;
  const int clusters =
      blocks <= 2 ? multiprocessors / blocks : multiprocessors / of_gpc * (of_gpc / blocks);
  return std::max(clusters, 1);
}

/// The time of a launch of few_rows with `blocks` blocks for each tile, without a constant, in 0.01 us.
constexpr int few_rows_cost(int tile, int columns_of_tile, std::int64_t n, std::int64_t k,
                            int blocks, int multiprocessors) {
  const int of_256_steps = tile == few_rows_tile::narrow ? 42 : 51;
  constexpr int of_wave = 187, of_sums = 136;
  const std::int64_t parts = invariant_parts(k);
  const std::int64_t steps = ceil_div(parts, blocks) * ceil_div(ceil_div(k, parts), 256);
  const std::int64_t waves =
      ceil_div(ceil_div(n, columns_of_tile), clusters_at_a_time(multiprocessors, blocks));
  return static_cast<int>(waves * (steps * of_256_steps + of_wave)) + (blocks > 1 ? of_sums : 0);
}

/// Waves of summed_parts, and the time that they take in units of this function.
struct SummedWaves {
  bool shares;  // each tile of the last wave has a block for each part of k
  std::int64_t time;
};

/// Blocks may share tiles only if those of all parts of the last wave run at a time. TileScheduler then cuts k
/// where the parts begin.
constexpr SummedWaves summed_waves(int tile, std::int64_t tiles, int parts, bool may_share,
                                   int multiprocessors) {
  constexpr int of_wide = 100, of_medium = 72;  // a k-block: larger tiles take less per element
  const std::int64_t left = tiles % multiprocessors;
  const bool shares = may_share && left > 0 && left * parts <= multiprocessors;
  const std::int64_t of_last_wave = shares ? 1 : left > 0 ? parts : 0;
  return {shares, (tiles / multiprocessors * parts + of_last_wave) *
                      (tile == summed_tile::wide ? of_wide : of_medium)};
}

}  // namespace rung::cuda
