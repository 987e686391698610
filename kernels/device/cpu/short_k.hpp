#pragma once
// Products with a short k, in which storing C is most of the work.

#include <algorithm>
#include <cstdint>

#include "core/problem.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/narrow_kernels.hpp"
#include "device/cpu/short_k_kernels.hpp"

namespace rung::cpu {

// A strip of B stays in registers for as many rows of C as fit in L1. If C is in memory, each of
// these rows is a separate stream.
inline constexpr std::int64_t least_rows_of_strip = 3, rows_of_strip = 32, rows_from_memory = 12;
inline constexpr std::int64_t bytes_of_c_in_l1 = 32 << 10;

/// One or two rows of C, with all of A in registers.
template <class T>
void multiply_in_one_pass(const Gemm<T, T>& g) {
  narrow_kernels<T>().row_sums[g.m - 1][g.k - 1]({g.n, &g.a(0, 0), g.a.row_stride, g.a.col_stride,
                                                  &g.b(0, 0), g.b.row_stride, g.alpha, g.beta,
                                                  &g.c(0, 0), g.c.row_stride});
}

/// Processes a few rows of C per pass. Each pass reads B again, from L1.
template <class T>
void multiply_by_passes(const Gemm<T, T>& g) {
  constexpr std::int64_t tile_rows = NarrowDots<T>::max_rows;
  Gemm<T, T> part = g;
  for (std::int64_t i = 0; i < g.m; i += tile_rows) {
    part.m = std::min(tile_rows, g.m - i);
    part.a.data = &g.a(i, 0);
    part.c.data = &g.c(i, 0);
    multiply_in_one_pass(part);
  }
}

/// The number of rows of C that are processed with all strips of B before the next rows.
template <class T>
std::int64_t rows_of_short_k(const Gemm<T, T>& g) {
  if (g.m <= rows_from_memory) return g.m;  // without a division
  constexpr std::int64_t size = sizeof(T);
  if (g.m * g.n * size > machine().caches.l3 / 4) return rows_from_memory;
  return g.m <= rows_of_strip ? g.m : std::max(rows_of_strip, bytes_of_c_in_l1 / size / g.n);
}

/// Processes blocks of rows of C, with strips of B in registers that are at most `widest` columns
/// wide.
template <class T>
void multiply_by_strips(const Gemm<T, T>& g, std::int64_t widest) {
  const auto& kernels = short_k_kernels<T>();
  const auto& strips = kernels.strips[g.k - 1];
  const std::int64_t tile_rows = rows_of_short_k(g);
  for (std::int64_t i = 0; i < g.m; i += tile_rows) {
    const std::int64_t rows = std::min(tile_rows, g.m - i);
    for (std::int64_t j = 0; j < g.n; j += widest) {
      const std::int64_t cols = std::min(widest, g.n - j);
      strips[kernels.vectors_of(cols) - 1]({rows, cols, &g.a(i, 0), g.a.row_stride, g.a.col_stride,
                                            &g.b(0, j), g.b.row_stride, g.alpha, g.beta, &g.c(i, j),
                                            g.c.row_stride});
    }
  }
}

/// Multiplies if k is short and rows of B are contiguous. Returns false for other products.
template <class T>
bool multiply_short_k(const Gemm<T, T>& g) {
  if (g.b.col_stride != 1 || g.k < 1) return false;
  const bool fits_one_pass = g.k <= NarrowKernels<T>::depth(g.m);
  if (g.m < least_rows_of_strip) {
    if (!fits_one_pass) return false;
    multiply_in_one_pass(g);
    return true;
  }
  const auto& kernels = short_k_kernels<T>();
  const std::int64_t vectors = kernels.vectors(g.k);
  if (vectors == 0) return false;
  // With few rows, loading a strip of one vector takes as long as multiplying.
  constexpr std::int64_t few_rows = 16;
  if (vectors == 1 && g.m <= few_rows && fits_one_pass && g.n > kernels.lanes) {
    multiply_by_passes(g);
  } else {
    multiply_by_strips(g, vectors * kernels.lanes);
  }
  return true;
}

}  // namespace rung::cpu
