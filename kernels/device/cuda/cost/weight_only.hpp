#pragma once
// Costs of products by packed weights: gemm/cuda/weight_only (mma), 72 (wgmma) and 73 (a stream of weights).

#include <algorithm>
#include <cstdint>

#include "core/integers.hpp"
#include "device/cuda/entry/launch.hpp"
#include "device/weight_layout.hpp"

namespace rung::cuda {

/// The time of a k-block of a tile, in us on an H200. The rest is in k-blocks: a block starts and stores in
/// `start`. If k is cut, adding the parts takes `adding`, and `adding_of_wave` for each wave, which writes and
/// reads them.
struct WeightOnlyCost {
  double k_block, start, adding, adding_of_wave;

  /// The time of a launch in waves of `at_once` blocks.
  double of(std::int64_t blocks, std::int64_t at_once, std::int64_t k_blocks, bool is_cut) const {
    const auto waves = static_cast<double>(ceil_div(blocks, at_once));
    const double summing = is_cut ? adding + waves * adding_of_wave : 0;
    return k_block * (waves * (static_cast<double>(k_blocks) + start) + summing);
  }
};

/// A tile of weight_only.
inline constexpr WeightOnlyCost mma_weight_cost = {1, 2, 3, 0};

/// A tile of weight_only_wgmma with that many rows.
constexpr WeightOnlyCost wgmma_weight_cost(int rows, bool has_8_bits) {
  if (rows <= 64) return {0.5, 15, 6, 0};
  if (rows == 128)
    return has_8_bits ? WeightOnlyCost{0.85, 4, 5, 5} : WeightOnlyCost{0.71, 7.7, 5, 5};
  return has_8_bits ? WeightOnlyCost{1.46, 5.5, 2.4, 2} : WeightOnlyCost{1.31, 6.3, 2.4, 2};
}

/// The tiles of C of a launch, with a block for every part of k of each, and the shared memory of a block.
struct WeightOnlyBlocks {
  std::int64_t tiles, shared_bytes;
};

/// Blocks of weight_stream: whole waves, with one block for each SM. Blocks have equally many rows of the weights, or
/// 16 more.
inline WeightOnlyBlocks weight_stream_blocks(std::int64_t m, std::int64_t n, std::int64_t k,
                                             const TileShape& tile, int splits,
                                             int multiprocessors) {
  const std::int64_t row_tiles = ceil_div(n, WeightLayout::rows);
  const std::int64_t wave = std::max(1, multiprocessors / splits);
  const std::int64_t waves = ceil_div(row_tiles, wave * (tile.BN / WeightLayout::rows));
  const std::int64_t each = ceil_div(row_tiles, waves * wave);
  const std::int64_t steps = round_up(ceil_div(k, splits), std::int64_t{WeightLayout::steps});
  const std::int64_t row_bytes = 2 * steps + 16;
  return {ceil_div(m, tile.BM) * ceil_div(row_tiles, each),
          tile.shared_bytes + std::min<std::int64_t>(m, tile.BM) * row_bytes};
}

/// True if a block has room for dynamic shared memory of that size. weight_stream also has a variable in
/// static shared memory, followed by padding to the alignment of dynamic shared memory.
constexpr bool has_weight_room(std::int64_t shared_bytes, std::int64_t bytes_of_block) {
  constexpr std::int64_t static_bytes = 1024;
  return shared_bytes + static_bytes <= bytes_of_block;
}

}  // namespace rung::cuda
