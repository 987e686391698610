#pragma once
// Assigns a tile and a split of k to each block of a split-K grid. The first tiles may be left
// whole, so that only a partial last wave is split.

#include <cstdint>

#include "device/cuda/entry/launch.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/tile/tile_coord.cuh"

namespace rung::cuda {

/// The k-steps [begin, end); empty if end <= begin.
struct KRange {
  std::int64_t begin, end;
};

/// Split `part` of `parts` of k. All but the last consist of whole k-blocks of BK steps.
template <int BK>
__device__ __forceinline__ KRange part_of_k(std::int64_t k, int parts, int part) {
  const std::int64_t steps = ceil_div(ceil_div(k, BK), parts) * BK;
  const std::int64_t begin = steps * part;
  return {begin, begin + steps < k ? begin + steps : k};
}

/// The number of blocks of a launch with that many tiles.
constexpr std::int64_t blocks_of(std::int64_t tiles, const GemmConfig& config) {
  return config.whole + (tiles - config.whole) * config.splits;
}

/// The work of one block.
struct BlockWork {
  unsigned tile;
  int part, parts;    // split index and number of splits of the tile's k
  unsigned cut_tile;  // index of the tile among the split ones

  __device__ __forceinline__ bool is_whole() const { return parts == 1; }
};

/// Branch-free: with a branch, nvcc allocates the registers of fma_tiles so that it is 2 % slower.
__device__ __forceinline__ BlockWork block_work(const SplitK& split_k) {
  const auto whole = static_cast<unsigned>(split_k.whole);
  const bool is_cut = blockIdx.x >= whole;
  const unsigned after = is_cut ? blockIdx.x - whole : 0;
  const unsigned cut_tile = after / static_cast<unsigned>(split_k.splits);
  const unsigned part = after - cut_tile * static_cast<unsigned>(split_k.splits);
  return {is_cut ? whole + cut_tile : blockIdx.x, static_cast<int>(part),
          is_cut ? split_k.splits : 1, cut_tile};
}

}  // namespace rung::cuda
