#pragma once
// Schedules the tiles of grouped products for persistent blocks. Only the device knows how many
// tiles a group has: each block counts them before its first tile.

#include <cstdint>

#include "device/cuda/entry/launch.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/warp.cuh"
#include "device/cuda/tile/group_layouts.cuh"
#include "device/cuda/tile/tile_coord.cuh"

namespace rung::cuda {

/// A tile of a group's product: first row and column of each operand, first k-steps, and the
/// extents of the tile. The following rows in memory belong to other groups.
struct GroupTile {
  int a_row, b_col, a_k, b_k, c_row, c_col;  // 32 bits, as for TMA
  int rows;                                  // rows of C from c_row; may exceed BM
  int steps;
  int lead;  // number of leading k-steps, which belong to another group
  int group;
};

/// The scheduler's state, in shared memory.
template <int BM, int BN>
class GroupScheduler {
 public:
  /// The maximum number of groups in a launch.
  static constexpr int most = 512;

  /// Counts the tiles. Called by all threads of the block. Without offsets, there is one group.
  template <class In, class Out>
  __device__ __forceinline__ void prepare(const Gemm<In, Out>& g, const Products& products,
                                          int threads) {
    const int count = static_cast<int>(products.count);
    for (int i = static_cast<int>(threadIdx.x); i < count; i += threads) {
      const Range range = range_of(g, products, i);
      const bool right =
          0 <= range.begin && range.begin <= range.end && range.end <= extent(g, products);
      first_tile_[i + 1] = right ? tiles_of(g, products, range) : wrong;
    }
    // sync: the tile counts of all groups are written
    __syncthreads();
    if (threadIdx.x < 32) add_up(count, products.status);
    // sync: their prefix sums are written
    __syncthreads();
  }

  /// Calls f(tile) for each GroupTile of this block. `group_rows` is the parameter of
  /// grouped_tile().
  template <class In, class Out, class F>
  __device__ __forceinline__ void for_each(const Gemm<In, Out>& g, const Products& products,
                                           unsigned group_rows, const F& f) const {
    const bool b_k_major = g.b.row_stride == 1;
    const auto b_apart =
        static_cast<int>(products.b.stride / (b_k_major ? g.b.col_stride : g.b.row_stride));
    const auto c_apart = static_cast<int>(products.c.stride / g.c.row_stride);
    int group = 0;
    for (unsigned number = blockIdx.x; number < tiles_; number += gridDim.x) {
      group = group_of(number, group, static_cast<int>(products.count));
      const Range range = range_of(g, products, group);
      Gemm<In, Out> part = g;
      const int size = range.end - range.begin;
      part.m = products.cuts_k ? g.m : size;
      const TileCoord tile = grouped_tile<BM, BN>(part, number - first_tile_[group], group_rows);
      const auto row = static_cast<int>(tile.row);
      const auto col = static_cast<int>(tile.col);
      const auto rows = static_cast<int>(part.m) - row;
      // The start of the group: in A and B if k is grouped, otherwise in A, B and C.
      const int lead = products.cuts_k && size > 0 ? lead_of(g, range.begin) : 0;
      const int k_before = products.cuts_k ? range.begin - lead : 0;
      const int a_before = products.cuts_k ? 0 : range.begin;
      const int b_before = products.cuts_k ? 0 : group * b_apart;
      const int c_before = products.cuts_k ? group * c_apart : range.begin;
      // A single call, because f is inlined.
      f(GroupTile{.a_row = a_before + row,
                  .b_col = col + (b_k_major ? b_before : 0),
                  .a_k = k_before,
                  .b_k = k_before + (b_k_major ? 0 : b_before),
                  .c_row = c_before + row,
                  .c_col = col,
                  .rows = rows,
                  .steps = products.cuts_k ? size + lead : static_cast<int>(g.k),
                  .lead = lead,
                  .group = group});
    }
  }

 private:
  struct Range {
    int begin, end;
  };
  static constexpr unsigned wrong = ~0u;  // replaces a number of tiles

  /// The extent that offsets divide.
  template <class In, class Out>
  static __device__ __forceinline__ std::int64_t extent(const Gemm<In, Out>& g,
                                                        const Products& products) {
    return products.cuts_k ? g.k : g.m;
  }

  template <class In, class Out>
  static __device__ __forceinline__ Range range_of(const Gemm<In, Out>& g, const Products& products,
                                                   int group) {
    if (products.offsets == nullptr) return {0, static_cast<int>(extent(g, products))};
    return {products.offsets[group], products.offsets[group + 1]};
  }

  template <class In, class Out>
  static __device__ __forceinline__ unsigned tiles_of(const Gemm<In, Out>& g,
                                                      const Products& products,
                                                      const Range& range) {
    const std::int64_t rows = products.cuts_k ? g.m : range.end - range.begin;
    return static_cast<unsigned>(ceil_div(rows, BM) * ceil_div(g.n, BN));
  }

  /// One warp: converts the tile counts of groups to prefix sums.
  __device__ __forceinline__ void add_up(int count, int* status) {
    const int lane = static_cast<int>(threadIdx.x);
    unsigned sum = 0;
    bool right = true;
    for (int first = 0; first < count; first += 32) {
      const bool exists = first + lane < count;
      unsigned tiles = exists ? first_tile_[first + lane + 1] : 0;
      right = right && ptx::vote_ballot(tiles == wrong) == 0;
      RUNG_UNROLL
      for (int lanes = 1; lanes < 32; lanes *= 2) {
        const unsigned before = ptx::shfl_up(tiles, lanes);
        if (lane >= lanes) tiles += before;
      }
      if (exists) first_tile_[first + lane + 1] = sum + tiles;
      sum += ptx::shfl_idx(tiles, 31);
    }
    if (lane != 0) return;
    first_tile_[0] = 0;
    tiles_ = right ? sum : 0;
    if (!right && status != nullptr && blockIdx.x == 0) *status = 1;
  }

  /// The group of a tile, by binary search in [low, high).
  __device__ __forceinline__ int group_of(unsigned tile, int low, int high) const {
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      if (first_tile_[middle] <= tile) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  unsigned first_tile_[most + 1];
  unsigned tiles_;  // total number of tiles
};

}  // namespace rung::cuda
