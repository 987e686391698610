#pragma once
// Which tile a block computes, and which part of k, in a grid with split-K. The first tiles may be
// left whole: a last wave that would leave SMs idle is then the only one that is cut.

#include <cstdint>

#include "device/cuda/entry/launch.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/tile/tile_coord.cuh"

namespace rung::cuda {

/// Steps of k from `begin` up to `end`; none if end <= begin.
struct KRange {
  std::int64_t begin, end;
};

/// One of `parts` parts of k, counted from 0. All but the last are whole k-blocks of BK steps.
template <int BK>
__device__ __forceinline__ KRange part_of_k(std::int64_t k, int parts, int part) {
  const std::int64_t steps = ceil_div(ceil_div(k, BK), parts) * BK;
  const std::int64_t begin = steps * part;
  return {begin, begin + steps < k ? begin + steps : k};
}

/// The blocks of a launch with so many tiles.
constexpr std::int64_t blocks_of(std::int64_t tiles, const GemmConfig& config) {
  return config.whole + (tiles - config.whole) * config.splits;
}

/// The work of one block.
struct BlockWork {
  unsigned tile;
  int part, parts;    // of the tile's k
  unsigned cut_tile;  // a number of the tile among those that are cut

  __device__ __forceinline__ bool is_whole() const { return parts == 1; }
};

/// Without a branch: after one, nvcc arranges the registers of rung 11 so that it is 2 % slower.
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
