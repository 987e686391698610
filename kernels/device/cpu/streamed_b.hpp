#pragma once
// Few rows of A: A stays in L1 while B is streamed once, from L2 or from outside.

#include <algorithm>
#include <cstdint>

#include "core/problem.hpp"
#include "device/cpu/fetches.hpp"
#include "device/cpu/integers.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/masked_kernels.hpp"

namespace rung::cpu {

/// The maximum rows of a tile whose elements fit in their L1 set.
template <class T>
std::int64_t rows_without_conflicts(const Gemm<T, T>& g, const MaskedKernels<T>& kernels) {
  const std::int64_t a_stride = std::max(g.a.row_stride, g.a.col_stride);
  return shares_a_set<T>(a_stride) ? std::min(l1_ways, kernels.MR) : kernels.MR;
}

/// The tile of the first rows of C(:, j … j + cols) for k-steps [k0, k0 + k), with B in place.
template <class T>
MaskedTile<T> masked_tile_of(const Gemm<T, T>& g, std::int64_t k0, std::int64_t k, std::int64_t j,
                             std::int64_t cols) {
  const T beta = k0 == 0 ? g.beta : T{1};
  return {k,       &g.a(0, k0), g.a.row_stride, g.a.col_stride, &g.b(k0, j), g.b.row_stride,
          g.alpha, beta,        &g.c(0, j),     g.c.row_stride, cols};
}

template <class T>
bool is_b_beyond_l2(const Gemm<T, T>& g) {
  return g.k * g.n * std::int64_t{sizeof(T)} > machine().caches.l2;
}

/// True if A has few rows and B does not fit in L1. bytes: size of B; l1, l2: cache sizes in bytes.
/// With 32 vector registers, fewer than eight rows read B from L2 equally fast without prefetching.
template <class Number>
constexpr bool streams_b_for_few_rows(Number bytes, Number rows, bool has_few_registers, Number l1,
                                      Number l2) {
  constexpr int least = 3, max_near = 70, max_far = 28;
  if (bytes <= l1 / 2) return false;
  if (bytes > l2) return rows >= least && rows <= max_far;
  return rows >= (has_few_registers ? least : 8) && rows <= max_near;
}

template <class T>
bool streams_b(const Gemm<T, T>& g, const MaskedKernels<T>& kernels) {
  const Caches& caches = machine().caches;
  const std::int64_t bytes = g.k * g.n * std::int64_t{sizeof(T)};
  return streams_b_for_few_rows(bytes, g.m, kernels.has_few_rows(), caches.l1, caches.l2);
}

/// Computes C(:, j … j + cols) for k-steps [k0, k0 + k). While the last tile reads B from L1, it
/// prefetches the columns to the right.
template <class T>
void strip_of_few_rows(const Gemm<T, T>& g, const MaskedKernels<T>& kernels, std::int64_t MR,
                       std::int64_t k0, std::int64_t k, std::int64_t j, std::int64_t cols) {
  MaskedTile<T> tile = masked_tile_of(g, k0, k, j, cols);
  for (std::int64_t i = 0; i < g.m; i += MR) {
    const std::int64_t rows = std::min(MR, g.m - i);
    tile.fetches_right = i + MR >= g.m;
    kernels.tile(rows, cols)(tile);
    tile.a += rows * g.a.row_stride;
    tile.c += rows * g.c.row_stride;
  }
}

/// Requires streams_b() and contiguous rows of B. Within a strip of columns, rows of B are too far
/// apart for the hardware prefetcher. A B outside L2 is therefore streamed a few whole rows at a
/// time, which the hardware prefetches into L2. Tiles with few rows have short k-steps, so they
/// need more of them to amortize the overhead of the loop.
template <class T>
void multiply_streamed_b(const Gemm<T, T>& g, const MaskedKernels<T>& kernels) {
  constexpr std::int64_t near_bytes = 1024, least_far_KC = 8, most_far_KC = 24;
  constexpr std::int64_t near_KC_of_few_rows = 128, far_KC_of_few_rows = 96, size = sizeof(T);
  // If rows of B are not aligned to cache lines, a strip occupies an extra line per row in L1.
  const bool begins_lines = g.b.row_stride % line<T> == 0;
  const bool is_short = kernels.has_few_rows() && (g.m <= kernels.MR || !begins_lines);
  const std::int64_t near_KC = is_short ? near_KC_of_few_rows : near_bytes / size;
  const std::int64_t far_KC = kernels.has_few_rows()
                                  ? even_part(g.k, far_KC_of_few_rows)
                                  : std::clamp(2 * g.m, least_far_KC, most_far_KC);
  const std::int64_t KC = is_b_beyond_l2(g) ? far_KC : even_part(g.k, near_KC);
  const std::int64_t MR = even_part(g.m, rows_without_conflicts(g, kernels));
  for (std::int64_t k0 = 0; k0 < g.k; k0 += KC) {
    const std::int64_t k = std::min(KC, g.k - k0);
    for (std::int64_t j = 0; j < g.n;) {
      const std::int64_t cols = kernels.tile_cols(MR, g.n - j, k);
      strip_of_few_rows(g, kernels, MR, k0, k, j, cols);
      j += cols;
    }
  }
}

}  // namespace rung::cpu
