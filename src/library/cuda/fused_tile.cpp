#include "library/cuda/fused_tile.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

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
};

/// The same of tiles for common parts, with a bias or with bias and gelu: fitted to 967 times of 40 random
/// shapes (docs/notes/epilogues.md).
WaveModel common_waves(std::vector<WaveTimes> tiles) {
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
const WaveModel common_in_turn = common_waves({{128, 128, 1, 0.368, 1.35}});
const WaveModel common_shared = common_waves({{128, 256, 1, 0.694, 3.33},
                                              {192, 128, 1, 0.544, 2.04},
                                              {64, 64, 1, 0.179, 0.90},
                                              {128, 128, 1, 0.359, 1.91},
                                              {64, 128, 1, 0.224, 1.50},
                                              {128, 256, 2, 0.708, 3.53}});

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

int fused_tile(Dtype dtype, const GemmSize& size, ElementType out, int multiprocessors) {
  const auto tiles = tiles_of(*fused_epilogue.rung, dtype);
  int best = 0;
  double least = 0;
  for (std::size_t i = 0; i < std::min(tiles.size(), times.size()); ++i) {
    // Results of one byte are stored in whole boxes of 128 columns.
    if (bytes_of(out) == 1 && tiles[i].BN % 128 != 0) continue;
    const double expected = microseconds(times[i], tiles[i], size, multiprocessors);
    if (least != 0 && expected >= least) continue;
    best = static_cast<int>(i);
    least = expected;
  }
  return best;
}

GemmConfig common_config(Dtype dtype, const GemmSize& size, const OddRows& odd_rows,
                         const Limits& limits) {
  const auto tiles = tiles_of(*fused_epilogue.rung, dtype);
  GemmConfig best;
  double least = std::numeric_limits<double>::infinity();
  for (int i = first_common_tile; i < std::ssize(tiles); ++i) {
    const bool in_turn = i == first_common_tile;  // consumers, so that k is not cut
    const auto [splits, expected] = predicted_splits(
        in_turn ? common_in_turn : common_shared, tiles[static_cast<std::size_t>(i)], dtype, size,
        !in_turn, limits.multiprocessors, odd_rows);
    if (expected >= least) continue;
    best = {.tile = i, .splits = splits};
    least = expected;
  }
  return best;
}

}  // namespace rung::cuda
