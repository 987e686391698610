#include "library/cuda/fused_tile.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "backends/cuda/kernel_name.hpp"
#include "core/epilogue.hpp"
#include "core/integers.hpp"
#include "device/cuda/library/fused_epilogue.hpp"
#include "library/cuda/tile_numbers.hpp"

namespace rung::cuda {
namespace {

/// Times on an H200 (docs/notes/epilogues.md).
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
/// Of tiles for common parts, with a bias or with bias and gelu: fitted to 967 times of 40 random shapes.
const WaveModel common_in_turn = waves_of({{128, 128, 1, 0.368, 1.35}});
const WaveModel common_shared = waves_of({{128, 256, 1, 0.694, 3.33},
                                          {192, 128, 1, 0.544, 2.04},
                                          {64, 64, 1, 0.179, 0.90},
                                          {128, 128, 1, 0.359, 1.91},
                                          {64, 128, 1, 0.224, 1.50},
                                          {128, 256, 2, 0.708, 3.53}});
/// Of tiles for all parts: fitted to 593 times of 24 shapes, with gelu_erf, results in float, gated
/// results, and operands in e4m3.
const WaveModel all_in_turn = waves_of({{128, 128, 1, 0.377, 4.30}, {64, 192, 1, 0.32, 3.3}});
const WaveModel all_shared = waves_of({{128, 128, 1, 0.375, 4.37},
                                       {64, 128, 1, 0.263, 2.45},
                                       {64, 64, 1, 0.199, 1.70},
                                       {128, 256, 1, 0.759, 8.12}});

/// Whether two consumers have tiles in turn, so that no k is cut.
constexpr bool is_in_turn(int tile) {
  return tile == fused_tile::in_turn || tile == fused_tile::flat_in_turn ||
         tile == fused_tile::common_in_turn;
}

/// Whether a tile for all parts can store such results. Results of one byte fill boxes of 128
/// columns. Gated results fill a box of 64 columns from 128 columns of sums of one consumer.
bool has_results(int tile, const TileShape& shape, ElementType out, bool gated) {
  if (gated && is_in_turn(tile)) return false;
  return shape.BN % 128 == 0 || (bytes_of(out) > 1 && !gated);
}

/// The configuration of the least expected time among the tiles in [first, last) for which `serves`
/// is true.
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
  return least_of(0, first_common_tile, all_in_turn, all_shared, dtype, size, odd_rows, limits,
                  [&](int i, const TileShape& tile) { return has_results(i, tile, out, gated); });
}

GemmConfig common_config(Dtype dtype, const GemmSize& size, const OddRows& odd_rows,
                         const Limits& limits) {
  return least_of(first_common_tile, std::numeric_limits<std::ptrdiff_t>::max(), common_in_turn,
                  common_shared, dtype, size, odd_rows, limits,
                  [](int, const TileShape&) { return true; });
}

}  // namespace rung::cuda
