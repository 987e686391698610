#pragma once
// Selects the fastest tile of batched_fma for the products of a batch, or batched_tiles if that is faster, by
// the rates of whole tiles. Partially filled tiles take as long as whole ones.

#include <cstdint>

#include "core/integers.hpp"

namespace rung::cuda {

struct BatchTile {
  int BM, BN;
  double rate;  // TFLOP/s on an H200, for batches of products that fill tiles

  /// The time of one product per k-step, in arbitrary units.
  constexpr double time(std::int64_t m, std::int64_t n) const {
    return static_cast<double>(ceil_div(m, BM) * BM * ceil_div(n, BN) * BN) / rate;
  }
};

/// In the order of the rung's tiles.
inline constexpr BatchTile tiles_of_rung_65[] = {{48, 48, 30}, {64, 64, 37}, {96, 96, 40}};
inline constexpr BatchTile tile_of_rung_62 = {64, 128, 42};

constexpr int fastest_tile_of_rung_65(std::int64_t m, std::int64_t n) {
  int best = 0, tile = 0;
  for (const BatchTile& candidate : tiles_of_rung_65) {
    if (candidate.time(m, n) < tiles_of_rung_65[best].time(m, n)) best = tile;
    ++tile;
  }
  return best;
}

/// True if batched_fma is faster than batched_tiles.
constexpr bool batched_fma_pays(std::int64_t m, std::int64_t n) {
  return tiles_of_rung_65[fastest_tile_of_rung_65(m, n)].time(m, n) < tile_of_rung_62.time(m, n);
}

}  // namespace rung::cuda
