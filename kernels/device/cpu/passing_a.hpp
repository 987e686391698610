#pragma once
// Few columns of C: B stays in L2, while an A from memory passes by once.

#include <algorithm>
#include <cstdint>

#include "core/problem.hpp"
#include "device/cpu/fetches.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/masked_kernels.hpp"
#include "device/cpu/passing_b.hpp"

namespace rung::cpu {

/// A larger L3 spans a mesh of many cores, and one core reads it no faster than memory.
inline constexpr std::int64_t most_l3 = 64 << 20;

/// Whether A comes from memory for so few columns that reading it is most of the work. a_bytes,
/// b_bytes: of A and B; n: columns of C; l2, l3: bytes of the caches.
template <class Number>
constexpr bool few_columns_meet(Number a_bytes, Number b_bytes, Number k, Number n, Number l2,
                                Number l3) {
  constexpr int least_k = 256, most_n = 32;
  return a_bytes > l3 / 2 && b_bytes <= l2 / 2 && k >= least_k && n <= most_n;
}

template <class T>
bool passes_a(const Gemm<T, T>& g) {
  constexpr std::int64_t size = sizeof(T);
  const Caches& caches = machine().caches;
  return g.a.col_stride == 1 && g.b.col_stride == 1 &&
         few_columns_meet(g.m * g.k * size, g.k * g.n * size, g.k, g.n, caches.l2,
                          std::min(caches.l3, most_l3));
}

/// Fetches `count` elements of each of `rows` rows.
template <class T>
void fetch_rows(const T* at, std::int64_t row_stride, std::int64_t rows, std::int64_t count) {
  for (std::int64_t i = 0; i < rows; ++i, at += row_stride) {
    for (std::int64_t k = 0; k < count; k += line<T>) __builtin_prefetch(at + k);
  }
}

/// For products of which passes_a() is true. A few rows at a time pass by over their whole length, a
/// part of k after the other, while a later part is fetched by software: rows that are pages apart
/// are too many streams for the hardware prefetcher.
template <class T>
void multiply_passing_a(const Gemm<T, T>& g, const MaskedKernels<T>& kernels) {
  constexpr std::int64_t KC = 256 / sizeof(T), ahead = 4 * KC;
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
