#pragma once
// Schedules the tiles of persistent blocks. The last wave may have fewer tiles than the device has
// SMs (wave quantization): with split-K, its tiles are split along k to occupy more SMs. The number
// of splits is run-time data, so one kernel supports both schedules.

#include <cstdint>

#include "device/cuda/entry/launch.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/tile/tile_coord.cuh"

namespace rung::cuda {

/// A tile or, with split-K, one split of a tile.
struct WorkTile {
  unsigned tile;
  std::int64_t k_begin, k_end;
  int split, splits;    // split index and number of splits of the tile
  unsigned split_tile;  // index of the tile among the split ones
  unsigned slot;        // index of the split among those of all tiles

  __device__ __forceinline__ std::int64_t steps() const { return k_end - k_begin; }
};

/// The work of blocks, or of clusters of CLUSTER blocks whose tiles are stacked vertically. A
/// cluster computes at most one split, after its whole tiles.
template <int BM, int BN, int BK, int CLUSTER = 1>
class TileScheduler {
 public:
  template <class In, class Out>
  __device__ __forceinline__ TileScheduler(const Gemm<In, Out>& g, int splits)
      : TileScheduler(static_cast<unsigned>(tiles_of_c<CLUSTER * BM, BN>(g)), ceil_div(g.k, BK),
                      splits) {}

  /// The workspace of a block for its partial sums, if tiles are split.
  template <class Sum>
  static constexpr std::int64_t workspace_bytes_per_block(int splits) {
    return splits == 1 ? 0 : std::int64_t{BM} * BN * std::int64_t{sizeof(Sum)};
  }
  /// The workspace of a launch of `blocks` blocks.
  template <class Sum>
  static constexpr std::int64_t workspace_bytes(std::int64_t blocks, int splits) {
    return splits == 1 ? 0 : semaphores_bytes + blocks * workspace_bytes_per_block<Sum>(splits);
  }

  /// Calls f(work, coord) for each WorkTile of this block, with the TileCoord of the block's tile.
  /// `group_rows`: parameter `rows` of grouped_tile().
  template <class In, class Out, class F>
  __device__ __forceinline__ void for_each(const Gemm<In, Out>& g, unsigned group_rows,
                                           const F& f) const {
    for (unsigned number = blockIdx.x / CLUSTER; number < count_; number += gridDim.x / CLUSTER) {
      const WorkTile work = at(number);
      const TileCoord first = grouped_tile<CLUSTER * BM, BN>(g, work.tile, group_rows / CLUSTER);
      f(work, TileCoord{first.row + ptx::cluster_ctarank() * BM, first.col});
    }
  }

 private:
  __device__ __forceinline__ TileScheduler(unsigned tiles, std::int64_t k_blocks, int splits)
      : whole_(tiles), splits_(1), count_(tiles), k_blocks_(k_blocks) {
    if (splits == 1) return;  // avoids the divisions
    const unsigned clusters = gridDim.x / CLUSTER;
    const unsigned left = tiles % clusters;
    unsigned parts = left == 0 ? 1 : clusters / left;
    if (parts > static_cast<unsigned>(splits)) parts = static_cast<unsigned>(splits);
    if (parts > k_blocks) parts = static_cast<unsigned>(k_blocks);
    if (parts <= 1) return;
    whole_ = tiles - left;
    splits_ = parts;
    count_ = whole_ + left * parts;
  }

  /// The last k-block of a tile ends with k; all others have BK steps.
  __device__ __forceinline__ WorkTile at(unsigned number) const {
    if (number < whole_) return {number, 0, k_blocks_ * BK, 0, 1, 0, 0};
    const unsigned slot = number - whole_;
    const unsigned split_tile = slot / splits_;
    const unsigned split = slot - split_tile * splits_;
    const auto k_blocks = static_cast<unsigned>(k_blocks_);
    const unsigned least = k_blocks / splits_;
    const unsigned longer = k_blocks - least * splits_;  // splits with an additional k-block
    const unsigned begin = split * least + (split < longer ? split : longer);
    const unsigned end = begin + least + (split < longer ? 1 : 0);
    return {whole_ + split_tile,
            std::int64_t{begin} * BK,
            std::int64_t{end} * BK,
            static_cast<int>(split),
            static_cast<int>(splits_),
            split_tile,
            slot};
  }

  unsigned whole_;   // number of tiles that are not split
  unsigned splits_;  // splits per split tile
  unsigned count_;
  std::int64_t k_blocks_;  // per tile
};

}  // namespace rung::cuda
