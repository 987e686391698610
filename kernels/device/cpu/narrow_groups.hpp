#pragma once
// Products with up to four rows or columns of C in types narrower than their sums, without packing:
// the large operand is read once, in storage order. Dot-product instructions multiply it in place;
// otherwise, 16-bit elements are converted to floats piece by piece, in L1.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "core/problem.hpp"
#include "device/cpu/few_rows_kernels.hpp"
#include "device/cpu/group_dots.hpp"
#include "device/cpu/narrow_loops.hpp"
#include "device/cpu/widen.hpp"
#include "device/cpu/workspace.hpp"
#include "rung/types.hpp"

namespace rung::cpu {

/// True for types that convert to float exactly.
template <class In>
inline constexpr bool widens_to_float = std::is_same_v<In, bfloat16> || std::is_same_v<In, float16>;

/// Prefetches the next part of a row: each part is too short for the hardware prefetcher to detect
/// a stream.
template <class In>
void fetch_row(const In* at, std::int64_t count) {
  constexpr std::int64_t line = 64 / sizeof(In);
  for (std::int64_t i = 0; i < count; i += line) __builtin_prefetch(at + i);
}

/// Few columns: dot products with the rows of A, which are contiguous.
template <class In>
void widened_dots(const Gemm<In, float>& g, int threads) {
  constexpr std::int64_t rows = NarrowDots<float>::column_rows, depth = 512;
  float* const b = scratch<float>(g.n * g.k);
  for (std::int64_t j = 0; j < g.n; ++j) {
    for (std::int64_t k = 0; k < g.k; k += depth) {
      In piece[depth];
      const std::int64_t count = std::min(depth, g.k - k);
      for (std::int64_t i = 0; i < count; ++i) piece[i] = g.b(k + i, j);
      widen<In>()(piece, count, b + j * g.k + k);
    }
  }
  // Each share starts at the first column: share_dots() makes a single share if n exceeds m.
  share_dots(g, threads, [&](const Gemm<In, float>& share) {
    alignas(64) float block[rows * depth];
    for (std::int64_t i = 0; i < share.m; i += rows) {
      const std::int64_t count = std::min(rows, share.m - i);
      for (std::int64_t k = 0; k < share.k; k += depth) {
        const std::int64_t of_k = std::min(depth, share.k - k);
        for (std::int64_t row = 0; row < count; ++row) {
          const In* const piece = &share.a(i + row, k);
          fetch_row(piece + depth, depth);
          widen<In>()(piece, of_k, block + row * depth);
        }
        dot_block<float, float>({count,
                                 share.n,
                                 of_k,
                                 share.alpha,
                                 {block, depth, 1},
                                 {b + k, 1, share.k},
                                 k == 0 ? share.beta : 1,
                                 {&share.c(i, 0), share.c.row_stride, share.c.col_stride}},
                                narrow_kernels<float>());
      }
    }
  });
}

/// Few rows: sums of rows of B. Rows of B and C are contiguous.
template <class In>
void widened_row_sums(const Gemm<In, float>& g, int threads) {
  constexpr std::int64_t depth = 8, cols = 512, unit = 64;
  const auto& kernels = narrow_kernels<float>();
  const std::int64_t part = round_up(ceil_div(g.n, threads), unit);
  parallel_for(ceil_div(g.n, part), threads, [&](std::int64_t task) {
    alignas(64) float block[depth * cols];
    const std::int64_t end = std::min(g.n, (task + 1) * part);
    for (std::int64_t k = 0; k < g.k; k += depth) {
      const std::int64_t of_k = std::min(depth, g.k - k);
      for (std::int64_t j = task * part; j < end; j += cols) {
        const std::int64_t count = std::min(cols, end - j);
        for (std::int64_t row = 0; row < of_k; ++row) {
          widen<In>()(&g.b(k + row, j), count, block + row * cols);
        }
        float a[few * depth];
        for (std::int64_t i = 0; i < g.m; ++i) {
          for (std::int64_t row = 0; row < of_k; ++row) {
            a[i * depth + row] = static_cast<float>(g.a(i, k + row));
          }
        }
        kernels.row_sums[g.m - 1][of_k - 1]({count, a, depth, 1, block, cols, g.alpha,
                                             k == 0 ? g.beta : 1, &g.c(0, j), g.c.row_stride});
      }
    }
  });
}

/// Few columns, contiguous rows of A. Returns false if this machine has no way to multiply the
/// type.
template <class In, class Out>
bool narrow_dots(const Gemm<In, Out>& g, int threads) {
  const auto* const kernels = group_dots<In, Out>();
  if (kernels == nullptr) {
    if constexpr (widens_to_float<In>) return widened_dots(g, threads), true;
    return false;
  }
  Gemm<In, Out> contiguous = g;
  if (g.b.row_stride != 1) {
    In* const copy = scratch<In>(g.n * g.k);
    contiguous.b = copied(g.b.transposed(), g.n, g.k, copy).transposed();
  }
  share_dots(contiguous, threads, [&](const Gemm<In, Out>& share) { dots_of_k(share, *kernels); });
  return true;
}

/// True if this machine supports narrow_row_sums() for the type.
template <class In, class Out>
bool has_row_sums() {
  return widens_to_float<In> || few_rows_kernels<In, Out>() != nullptr;
}

/// Few rows, contiguous rows of B and C. Requires has_row_sums().
template <class In, class Out>
void narrow_row_sums(const Gemm<In, Out>& g, int threads, Out* partial) {
  sum_parts_of_k(g, threads, partial, [](const Gemm<In, Out>& share, int of_share) {
    if (multiply_few_rows(share, of_share)) return;
    if constexpr (widens_to_float<In>) widened_row_sums(share, of_share);
  });
}

/// Returns false for other shapes, and for types that this machine does not support.
template <class In, class Out>
bool multiply_narrow(const Gemm<In, Out>& g, int threads) {
  if constexpr (widens_to_float<In> || std::is_same_v<In, std::int8_t>) {
    if (g.k == 0) return false;
    switch (narrow_loop(g.m, g.n, g.a.col_stride == 1, g.a.row_stride == 1, g.b.col_stride == 1,
                        g.b.row_stride == 1)) {
      case NarrowLoop::none: return false;
      case NarrowLoop::dots: return narrow_dots(g, threads);
      case NarrowLoop::transposed_dots: return narrow_dots(transposed(g), threads);
      case NarrowLoop::row_sums:
        if (!has_row_sums<In, Out>()) return false;
        narrow_row_sums(g, threads, scratch<Out>(partial_elements(g, threads)));
        return true;
      case NarrowLoop::column_sums: {
        if (!has_row_sums<In, Out>()) return false;
        const std::int64_t room = partial_elements(transposed(g), threads);
        sums_of_columns(g, room, [&](const Gemm<In, Out>& t, Out* partial) {
          narrow_row_sums(t, threads, partial);
        });
        return true;
      }
    }
  }
  return false;
}

}  // namespace rung::cpu
