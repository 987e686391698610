#pragma once
// Grouped products in batched kernels: assigns a group's tile to a group of threads, using only the
// offsets, without counting the tiles of other groups.

#include <cstdint>

#include "device/cuda/entry/launch.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/tile/product_tile.cuh"
#include "device/cuda/tile/tile_coord.cuh"

namespace rung::cuda {

/// If offsets group rows: the first slot for the rows of tiles of a group that begins at row
/// `begin`. The number of slots before the next group's first one is the number of rows of tiles,
/// or one more: `begin` grows by at most BM per slot, and each group has an additional slot for the
/// remainder.
template <int BM>
__device__ __forceinline__ int slot_of(int group, int begin) {
  return begin / BM + group;
}

/// True if no offset decreases or exceeds `extent`. Called by all threads of a Group.
template <class Group>
__device__ __forceinline__ bool offsets_are_right(const Products& products, std::int64_t extent) {
  bool is_wrong = false;
  for (int i = Group::rank(); i < static_cast<int>(products.count); i += Group::SIZE) {
    const int begin = products.offsets[i], end = products.offsets[i + 1];
    is_wrong = is_wrong || begin < 0 || end < begin || end > extent;
  }
  // sync: memory written before is visible to the group
  const bool any_is_wrong = Group::any(is_wrong);
  if (any_is_wrong && blockIdx.x == 0 && threadIdx.x == 0 && products.status != nullptr) {
    *products.status = 1;
  }
  return !any_is_wrong;
}

/// The group that uses a slot, or -1 for an unused slot and for wrong offsets. Called by all
/// threads of a Group.
template <int BM, class Group>
__device__ __forceinline__ int group_of_slot(const Products& products, std::int64_t extent,
                                             int slot) {
  __shared__ int found[Group::COUNT];
  if (Group::rank() == 0) found[Group::index()] = -1;
  if (!offsets_are_right<Group>(products, extent)) return -1;
  for (int i = Group::rank(); i < static_cast<int>(products.count); i += Group::SIZE) {
    const int begin = products.offsets[i], end = products.offsets[i + 1];
    if (slot_of<BM>(i, begin) <= slot && slot < slot_of<BM>(i + 1, end)) {
      found[Group::index()] = i;
    }
  }
  // sync: the thread that found the group has written it
  Group::sync();
  return found[Group::index()];
}

/// tile_of_product() for grouped products. If offsets group rows, the grid has one block per column
/// of tiles and Group::COUNT slots; if they group k, one block per tile and Group::COUNT groups. An
/// unused slot has a product without rows, columns and k-steps.
template <int BM, int BN, class Group, class In, class Out>
__device__ __forceinline__ ProductTile<In, Out> tile_of_group(const Gemm<In, Out>& all,
                                                              const Products& products) {
  const auto cols = static_cast<unsigned>(ceil_div(all.n, BN));
  const unsigned rows = products.cuts_k ? static_cast<unsigned>(ceil_div(all.m, BM)) : 1;
  const unsigned tile = blockIdx.x % (rows * cols);
  const int slot = static_cast<int>(blockIdx.x / (rows * cols)) * Group::COUNT + Group::index();
  int group = slot;
  if (!products.cuts_k) {
    group = group_of_slot<BM, Group>(products, all.m, slot);
  } else if (!offsets_are_right<Group>(products, all.k) || slot >= products.count) {
    group = -1;
  }
  ProductTile<In, Out> result = {all, {0, 0}};
  Gemm<In, Out>& g = result.product;
  if (group < 0) {
    g.m = g.n = g.k = 0;
    return result;
  }
  g = product_of(all, products, group);
  const int begin = products.offsets[group];
  const int size = products.offsets[group + 1] - begin;
  int row_of_tiles = static_cast<int>(tile / cols);
  if (products.cuts_k) {
    g.k = size;
    g.a.data += begin * g.a.col_stride;
    g.b.data += begin * g.b.row_stride;
  } else {
    g.m = size;
    g.a.data += begin * g.a.row_stride;
    g.c.data += begin * g.c.row_stride;
    row_of_tiles = slot - slot_of<BM>(group, begin);
    if (std::int64_t{row_of_tiles} * BM >= g.m) g.m = g.n = g.k = 0;
  }
  result.tile = {std::int64_t{row_of_tiles} * BM, std::int64_t{tile % cols} * BN};
  return result;
}

/// The work of a group of threads, in a batch or, if HAS_GROUPS, in grouped products.
template <int BM, int BN, class Group, bool HAS_GROUPS, class In, class Out>
__device__ __forceinline__ ProductTile<In, Out> product_tile(const Gemm<In, Out>& first,
                                                             const Products& products) {
  if constexpr (HAS_GROUPS) {
    static_assert(Group::SIZE >= 32, "threads of a warp have as many steps of k");
    if (products.offsets != nullptr) return tile_of_group<BM, BN, Group>(first, products);
  }
  return tile_of_product<BM, BN, Group>(first, products);
}

}  // namespace rung::cuda
