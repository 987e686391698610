#pragma once
// Products of an A with a few dozen rows and a B that does not fit in L2: strips of B are copied to
// L1 when they are first read.

#include <algorithm>
#include <cstdint>

#include "core/problem.hpp"
#include "device/cpu/fetches.hpp"
#include "device/cpu/integers.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/masked_kernels.hpp"
#include "device/cpu/streamed_b.hpp"

namespace rung::cpu {

inline constexpr std::int64_t strip_bytes = 32 << 10;  // size of a copy that stays in L1

/// The fewest tiles that make up for a copy of the strip of B that they read.
inline constexpr std::int64_t tiles_of_copy = 4;

/// True if lines of a strip of B evict each other from L1: its `rows` rows of row_bytes, which are `stride`
/// bytes apart, begin in few of the 64 sets.
template <class Number>
constexpr bool strip_shares_sets(std::int64_t stride, Number rows, Number row_bytes) {
  const std::int64_t power_of_two = stride & -stride;  // the largest that divides it
  const auto begins = static_cast<Number>(std::max<std::int64_t>(1, l1_way_bytes / power_of_two));
  return begins * row_bytes < l1_way_bytes && rows > begins * l1_ways;
}

/// True if copying strips of B pays off. `bytes` is the size of B, `tile_rows` the rows of the
/// largest tile, `l1` and `l2` the cache sizes in bytes. Requires a B larger than half of L2, which
/// A and C would evict. With fewer rows, B is streamed; with more, just_in_time reads each strip less
/// often.
template <class Number>
constexpr bool rows_share_copies(Number bytes, Number rows, Number tile_rows, Number l1,
                                 Number l2) {
  constexpr int max_tiles = 12;
  return 2 * bytes > l2 && 2 * l1 >= 3 * strip_bytes && rows > 2 * tile_rows &&
         rows <= max_tiles * tile_rows;
}

/// The condition for tiles with few rows: with enough tiles, the copy is cheap. `c_bytes` is the
/// size of C, whose rows evict those of B from L1. `is_aligned` is true if no vector of B crosses a
/// cache line.
template <class Number>
constexpr bool few_rows_share_copies(Number rows, Number c_bytes, Number l2, bool is_aligned) {
  constexpr int least_rows = 64;
  return rows >= least_rows && (c_bytes > l2 || !is_aligned);
}

template <class T>
bool copies_strips(const Gemm<T, T>& g, const MaskedKernels<T>& kernels) {
  const Caches& caches = machine().caches;
  const std::int64_t bytes = g.k * g.n * std::int64_t{sizeof(T)};
  return rows_share_copies(bytes, g.m, kernels.MR, caches.l1, caches.l2);
}

/// Computes C(:, j … j + cols) of `tile` for its part of k. The first tile copies B for the others,
/// and the first few tiles prefetch the strip at `next` unless it is null.
template <class T>
void copied_strip_of_rows(const Gemm<T, T>& g, const MaskedKernels<T>& kernels, MaskedTile<T> tile,
                          const T* next, T* copy) {
  const std::int64_t cols = tile.cols;
  const std::int64_t MR = std::min(kernels.strip_rows(cols), rows_without_conflicts(g, kernels));
  const bool has_strips = MR == kernels.strip_rows(cols) && 2 * cols > kernels.lanes;
  const std::int64_t parts = next == nullptr ? 0 : kernels.vectors(cols) > 2 ? 4 : 2;
  for (std::int64_t i = 0, index = 0, rows; i < g.m; i += rows, ++index) {
    const std::int64_t left = g.m - i;
    rows = left >= 2 * MR ? MR : left > MR ? (left + 1) / 2 : left;
    tile.copy = index == 0 ? copy : nullptr;
    tile.moves = 0;
    if (index < parts) {
      fetch_strip(tile, next, g.b.row_stride, index, parts, 1);
    } else if (index == 0) {
      tile.fetch(tile.c, tile.ldc, cols - 1, tile.k);
    }
    if (tile.moves == 0 && has_strips && left >= 2 * MR) {
      rows = (left / MR - 1) * MR;  // the rest is one tile, or two of about equal size
      kernels.tiles_of_strip(cols)(tile, rows / MR);
    } else {
      kernels.tile(rows, cols)(tile);
    }
    tile.a += rows * g.a.row_stride;
    tile.c += rows * g.c.row_stride;
    tile.b = copy;
    tile.b_k = kernels.width(cols);
  }
}

/// Requires copies_strips() and contiguous rows of B.
template <class T>
void multiply_copied_strips(const Gemm<T, T>& g, const MaskedKernels<T>& kernels) {
  alignas(64) T copy[strip_bytes / sizeof(T)];
  const std::int64_t widest = 4 * kernels.lanes * std::int64_t{sizeof(T)};
  const std::int64_t KC = even_part(g.k, strip_bytes / widest);
  for (std::int64_t k0 = 0; k0 < g.k; k0 += KC) {
    const std::int64_t k = std::min(KC, g.k - k0);
    for (std::int64_t j = 0, cols; j < g.n; j += cols) {
      cols = kernels.tile_cols(kernels.wide_rows, g.n - j, k);
      const T* const below = k0 + KC < g.k ? &g.b(k0 + KC, 0) : nullptr;
      const T* const next = j + cols < g.n ? &g.b(k0, j + cols) : below;
      copied_strip_of_rows(g, kernels, masked_tile_of(g, k0, k, j, cols), next, copy);
    }
  }
}

}  // namespace rung::cpu
