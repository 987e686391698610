#pragma once
// Few columns of C: B stays in L2 while A is streamed once from memory.

#include <algorithm>
#include <cstdint>

#include "core/problem.hpp"
#include "device/cpu/fetches.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/masked_kernels.hpp"
#include "device/cpu/streamed_b.hpp"

namespace rung::cpu {

/// A larger L3 spans a mesh of many cores, and a single core reads it no faster than memory.
inline constexpr std::int64_t max_l3 = 64 << 20;

/// Bytes of each row of A that are streamed at a time.
inline constexpr std::int64_t streamed_chunk_bytes = 256;

/// True if A is streamed from memory and C has few columns, so that reading A dominates. a_bytes,
/// b_bytes: sizes of A and B; n: columns of C; l2, l3: cache sizes in bytes.
template <class Number>
constexpr bool streams_a_for_few_columns(Number a_bytes, Number b_bytes, Number k, Number n,
                                         Number l2, Number l3) {
  constexpr int least_k = 256, max_n = 32;
  return a_bytes > l3 / 2 && b_bytes <= l2 / 2 && k >= least_k && n <= max_n;
}

template <class T>
bool streams_a(const Gemm<T, T>& g) {
  constexpr std::int64_t size = sizeof(T);
  const Caches& caches = machine().caches;
  return g.a.col_stride == 1 && g.b.col_stride == 1 &&
         streams_a_for_few_columns(g.m * g.k * size, g.k * g.n * size, g.k, g.n, caches.l2,
                                   std::min(caches.l3, max_l3));
}

/// Prefetches `count` elements of each of `rows` rows.
template <class T>
void fetch_rows(const T* at, std::int64_t row_stride, std::int64_t rows, std::int64_t count) {
  for (std::int64_t i = 0; i < rows; ++i, at += row_stride) {
    for (std::int64_t k = 0; k < count; k += line<T>) __builtin_prefetch(at + k);
  }
}

/// Requires streams_a(). Streams a few whole rows at a time, part after part of k, and prefetches a
/// later part by software: rows that are pages apart are too many streams for the hardware
/// prefetcher.
template <class T>
void multiply_streamed_a(const Gemm<T, T>& g, const MaskedKernels<T>& kernels) {
  constexpr std::int64_t KC = streamed_chunk_bytes / sizeof(T), ahead = 4 * KC;
  const std::int64_t widest = kernels.tile_cols(kernels.wide_rows, g.n, KC);
  const std::int64_t MR = std::min(rows_without_conflicts(g, kernels), kernels.strip_rows(widest));
  for (std::int64_t i = 0; i < g.m; i += MR) {
    const std::int64_t rows = std::min(MR, g.m - i);
    for (std::int64_t k0 = 0; k0 < g.k; k0 += KC) {
      const std::int64_t k = std::min(KC, g.k - k0), later = k0 + ahead;
      if (later < g.k) {
        fetch_rows(&g.a(i, later), g.a.row_stride, rows, std::min(KC, g.k - later));
      } else if (i + MR < g.m) {
        const std::int64_t begin = std::max<std::int64_t>(0, later - g.k);
        fetch_rows(&g.a(i + MR, begin), g.a.row_stride, std::min(MR, g.m - i - MR), KC);
      }
      for (std::int64_t j = 0, cols; j < g.n; j += cols) {
        cols = kernels.tile_cols(MR, g.n - j, k);
        MaskedTile<T> tile = masked_tile_of(g, k0, k, j, cols);
        tile.a = &g.a(i, k0);
        tile.c = &g.c(i, j);
        kernels.tile(rows, cols)(tile);
      }
    }
  }
}

}  // namespace rung::cpu
