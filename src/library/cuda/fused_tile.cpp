#include "library/cuda/fused_tile.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "backends/cuda/kernel_name.hpp"
#include "core/epilogue.hpp"
#include "core/integers.hpp"
#include "device/cuda/library/fused_epilogue.hpp"

namespace rung::cuda {
namespace {

/// Of one tile, in microseconds on an H200 (docs/notes/epilogues.md).
struct TileTimes {
  double step;        // 128 bytes of k
  double start;       // before the products
  double epilogue;    // after them, with bias and gelu
  double idle_share;  // of a k-block's time, what remains if all other SMs are idle
  bool takes_turns;   // two tiles at a time: one is stored while the other one is multiplied
};

/// In the order of the kernel's tiles.
constexpr std::array times = {
    TileTimes{0.351, 0.47, 1.77, 0.79, false},  // 128 x 128
    TileTimes{0.223, 0.60, 1.00, 1.00, false},  // 64 x 128
    TileTimes{0.176, 0.57, 0.67, 0.68, false},  // 64 x 64
    TileTimes{0.380, 0.0, 6.20, 0.70, true},    // 128 x 128
    TileTimes{0.339, 0.0, 4.28, 0.39, true},    // 64 x 192
    TileTimes{0.667, 0.02, 5.00, 0.81, false},  // 128 x 256
    // For common parts.
    TileTimes{0.394, 0.0, 4.02, 0.70, true},    // 128 x 128
    TileTimes{0.660, 0.08, 4.69, 0.85, false},  // 128 x 256
    TileTimes{0.510, 0.62, 3.20, 0.83, false},  // 192 x 128
    TileTimes{0.187, 0.10, 1.45, 0.94, false},  // 64 x 64
};

/// The tile for all parts that the common parts take, too: they have none of 64 x 128.
constexpr int small_tile = 1;

double microseconds(const TileTimes& of, const TileShape& tile, const GemmSize& size,
                    int multiprocessors) {
  const std::int64_t workers = std::max(multiprocessors / tile.cluster, 1);
  const std::int64_t tiles =
      ceil_div(size.m, std::int64_t{tile.BM} * tile.cluster) * ceil_div(size.n, tile.BN);
  const auto waves = static_cast<double>(ceil_div(tiles, workers));
  const double busy = static_cast<double>(tiles) / static_cast<double>(workers) - (waves - 1);
  const double of_tile = static_cast<double>(ceil_div(size.k, tile.BK)) * of.step;
  const double products = (waves - 1 + of.idle_share + (1 - of.idle_share) * busy) * of_tile;
  const double rest = of.start + of.epilogue;
  if (!of.takes_turns) return products + waves * rest;
  return std::max(products, waves * (of_tile + of.epilogue) / 2) + rest;
}

}  // namespace

int fused_tile(Dtype dtype, const GemmSize& size, ElementType out, bool is_common,
               int multiprocessors) {
  const auto tiles = tiles_of(*fused_epilogue.rung, dtype);
  const auto count = static_cast<int>(std::min(tiles.size(), times.size()));
  int best = 0;
  double least = 0;
  for (int i = 0; i < count; ++i) {
    const bool is_for_all = i < first_common_tile;
    if (is_common ? is_for_all && i != small_tile : !is_for_all) continue;
    const TileShape& tile = tiles[static_cast<std::size_t>(i)];
    // Results of one byte are stored in whole boxes of 128 columns.
    if (bytes_of(out) == 1 && tile.BN % 128 != 0) continue;
    const double expected =
        microseconds(times[static_cast<std::size_t>(i)], tile, size, multiprocessors);
    if (least != 0 && expected >= least) continue;
    best = i;
    least = expected;
  }
  return best;
}

}  // namespace rung::cuda
