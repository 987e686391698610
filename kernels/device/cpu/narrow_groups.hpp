#pragma once
// Up to four rows or columns of C in types narrower than their sums, without packing: the large
// operand is read once, in the order in which it is stored. Dot-product instructions multiply it in
// place; without them, 16-bit elements become floats a piece at a time, in L1.

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

/// Types that become floats without rounding.
template <class In>
inline constexpr bool widens_to_float = std::is_same_v<In, bfloat16> || std::is_same_v<In, float16>;

/// Fetches what is read next of a row: each piece of it ends before the hardware has seen a stream.
template <class In>
void fetch_row(const In* at, std::int64_t count) {
  constexpr std::int64_t line = 64 / sizeof(In);
  for (std::int64_t i = 0; i < count; i += line) __builtin_prefetch(at + i);
}

/// Few columns, as dot products of rows of A, which are contiguous.
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
  // A share begins at the first column: where n exceeds m, share_dots() makes one share of all.
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

/// Few rows, as sums of rows of B, which are contiguous, like those of C.
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

/// Few columns, where rows of A are contiguous. False if no instruction multiplies the type.
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

/// Whether this machine multiplies the type so.
template <class In, class Out>
bool has_row_sums() {
  return widens_to_float<In> || few_rows_kernels<In, Out>() != nullptr;
}

/// Few rows, where rows of B and C are contiguous. Needs has_row_sums().
template <class In, class Out>
void narrow_row_sums(const Gemm<In, Out>& g, int threads, Out* partial) {
  sum_parts_of_k(g, threads, partial, [](const Gemm<In, Out>& share, int of_share) {
    if (multiply_few_rows(share, of_share)) return;
    if constexpr (widens_to_float<In>) widened_row_sums(share, of_share);
  });
}

/// False for other problems, and for types that this machine does not multiply so.
template <class In, class Out>
bool multiply_narrow(const Gemm<In, Out>& g, int threads) {
  if constexpr (widens_to_float<In> || std::is_same_v<In, std::int8_t>) {
    if (g.k == 0) return false;
    if (g.n <= few && g.a.col_stride == 1) return narrow_dots(g, threads);
    if (g.m <= few && g.b.row_stride == 1) return narrow_dots(transposed(g), threads);
    if (g.m <= few && g.b.col_stride == 1 && has_row_sums<In, Out>()) {
      narrow_row_sums(g, threads, scratch<Out>(partial_elements(g, threads)));
      return true;
    }
    if (g.n <= few && g.a.row_stride == 1 && has_row_sums<In, Out>()) {
      const std::int64_t room = partial_elements(transposed(g), threads);
      sums_of_columns(g, room, [&](const Gemm<In, Out>& t, Out* partial) {
        narrow_row_sums(t, threads, partial);
      });
      return true;
    }
  }
  return false;
}

}  // namespace rung::cpu
