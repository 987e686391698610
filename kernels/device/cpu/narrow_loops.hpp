#pragma once
// Loops around the kernels for a few columns of C: copies of the small operand, shares of the large
// one for threads, and parts of k.

#include <algorithm>
#include <cstdint>

#include "core/problem.hpp"
#include "device/cpu/integers.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/narrow_kernels.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/workspace.hpp"

namespace rung::cpu {

/// The most rows or columns of C for these loops.
inline constexpr std::int64_t few = 4;

/// The same problem for C transposed, whose rows may not be contiguous.
template <class In, class Out>
Gemm<In, Out> transposed(const Gemm<In, Out>& g) {
  return {g.n, g.m, g.k, g.alpha, g.b.transposed(), g.a.transposed(), g.beta, g.c.transposed()};
}

/// A loop over so few rows takes longer than what it copies, unless their number is fixed. By value:
/// for all that the compiler knows, a store of a byte may change a matrix by reference.
template <int Rows, class T>
void copy_rows(Matrix<const T> matrix, std::int64_t cols, T* copy) {
  for (std::int64_t j = 0; j < cols; ++j) {
#pragma GCC unroll 4
    for (int i = 0; i < Rows; ++i) copy[i * cols + j] = matrix(i, j);
  }
}

/// The same matrix, of up to `few` rows, with contiguous rows.
template <class T>
Matrix<const T> copied(const Matrix<const T>& matrix, std::int64_t rows, std::int64_t cols,
                       T* copy) {
  switch (rows) {
    case 1: copy_rows<1>(matrix, cols, copy); break;
    case 2: copy_rows<2>(matrix, cols, copy); break;
    case 3: copy_rows<3>(matrix, cols, copy); break;
    default: copy_rows<4>(matrix, cols, copy);
  }
  return {copy, cols, 1};
}

/// One for each thread where its part of the large operand stays in its L2: threads take tasks in
/// turn, and of as many as there are threads each takes the same again. Otherwise eight, for balance.
template <class T>
std::int64_t most_tasks(std::int64_t elements, int threads) {
  const std::int64_t bytes = elements * std::int64_t{sizeof(T)};
  return threads * (bytes <= threads * machine().caches.l2 ? 1 : 8);
}

/// The least part of the large operand that is worth a task of its own.
inline constexpr std::int64_t task_elements = 1 << 14;

/// All of k for a few columns of C, or a few rows of many columns.
template <class In, class Acc>
void dot_block(const Gemm<In, Acc>& g, const NarrowDots<In, Acc>& kernels) {
  constexpr std::int64_t column_rows = NarrowDots<In, Acc>::column_rows;
  DotTile<In, Acc> tile = {g.k,     g.a.data, g.a.row_stride, g.b.data,       g.b.col_stride,
                           g.alpha, g.beta,   g.c.data,       g.c.row_stride, g.c.col_stride};
  for (std::int64_t i = 0; i < g.m;) {
    const std::int64_t left = g.m - i;
    const std::int64_t rows = g.n == 1 && left >= column_rows ? column_rows : std::min(left, few);
    tile.a = &g.a(i, 0);
    for (std::int64_t j = 0; j < g.n; j += few) {
      tile.b = &g.b(0, j);
      tile.c = &g.c(i, j);
      const auto kernel =
          rows == column_rows ? kernels.column : kernels.dots[rows - 1][std::min(few, g.n - j) - 1];
      kernel(tile);
    }
    i += rows;
  }
}

/// A part of k after the other.
template <class In, class Acc>
void dots_of_k(const Gemm<In, Acc>& g, const NarrowDots<In, Acc>& kernels) {
  // In elements: four columns of B in the L2 cache; one column may be longer.
  constexpr std::int64_t dots_KC = 4096, column_KC = 1 << 16;
  const std::int64_t KC = g.n == 1 ? column_KC : dots_KC;
  if (g.k <= KC) return dot_block(g, kernels);
  for (std::int64_t k0 = 0; k0 < g.k; k0 += KC) {
    Gemm<In, Acc> block = g;
    block.k = std::min(KC, g.k - k0);
    block.beta = k0 == 0 ? g.beta : Acc{1};
    block.a.data = &g.a(0, k0);
    block.b.data = &g.b(k0, 0);
    dot_block(block, kernels);
  }
}

/// Divides rows of A, or columns of B where these are more, between threads: body(share).
template <class In, class Acc, class Body>
void share_dots(const Gemm<In, Acc>& g, int threads, const Body& body) {
  if (threads == 1) return body(g);
  const bool by_rows = g.m >= g.n;
  const std::int64_t most = by_rows ? g.m : g.n;
  const std::int64_t wanted = std::max<std::int64_t>(1, most * g.k / task_elements);
  const std::int64_t tasks = std::min(wanted, most_tasks<In>(most * g.k, threads));
  const std::int64_t part = round_up(ceil_div(most, tasks), NarrowDots<In, Acc>::column_rows);
  parallel_for(ceil_div(most, part), threads, [&](std::int64_t task) {
    const std::int64_t begin = task * part;
    Gemm<In, Acc> share = g;
    (by_rows ? share.m : share.n) = std::min(part, most - begin);
    (by_rows ? share.a.data : share.b.data) = by_rows ? &g.a(begin, 0) : &g.b(0, begin);
    share.c.data = by_rows ? &g.c(begin, 0) : &g.c(0, begin);
    body(share);
  });
}

/// The least k for which a part gets sums of its own. Because sums are written and read again, they may take
/// at most a 32nd of the part's bytes. rows: of C; ratio: the size of a sum over that of an element.
template <class Number>
constexpr Number least_part_of_k(Number rows, Number ratio) {
  return std::max(Number{64}, 32 * ratio * rows);
}

/// Parts of k for threads that add up rows of B: each has sums of its own, which are few beside a part.
template <class In, class Acc>
std::int64_t parts_of_k(const Gemm<In, Acc>& g, int threads) {
  constexpr std::int64_t ratio = std::int64_t{sizeof(Acc)} / std::int64_t{sizeof(In)};
  if (threads == 1 || g.k < threads * least_part_of_k(g.m, ratio)) return 1;
  return std::min<std::int64_t>(threads, ceil_div(g.n * g.k, task_elements));
}

/// The room that sum_parts_of_k() needs.
template <class In, class Acc>
std::int64_t partial_elements(const Gemm<In, Acc>& g, int threads) {
  return (parts_of_k(g, threads) - 1) * g.m * g.n;
}

/// C += the sum of `count` matrices of the size of C, which are one after the other at `partial`.
template <class In, class Acc>
void add_partial(const Gemm<In, Acc>& g, const Acc* partial, std::int64_t count, int threads) {
  constexpr std::int64_t least_additions = 1 << 13, least_columns = 64, most_columns = 2048;
  const std::int64_t least =
      std::clamp(ceil_div(least_additions, count * g.m), least_columns, most_columns);
  const std::int64_t part = round_up(std::max(least, ceil_div(g.n, threads)), least_columns);
  parallel_for(ceil_div(g.n, part), threads, [&](std::int64_t task) {
    const std::int64_t begin = task * part, end = std::min(g.n, begin + part);
    for (std::int64_t row = 0; row < count * g.m; ++row) {
      const Acc* const from = partial + row * g.n;
      Acc* const c = &g.c(row % g.m, 0);
      for (std::int64_t j = begin; j < end; ++j) c[j] += from[j];
    }
  });
}

/// Few rows of C, as sums of rows of B: sums(share, threads). Each thread reads a part of k, one piece of
/// memory, rather than pieces of all rows. `partial` has room for partial_elements().
template <class In, class Acc, class Sums>
void sum_parts_of_k(const Gemm<In, Acc>& g, int threads, Acc* partial, const Sums& sums) {
  constexpr std::int64_t unit = 16;  // a multiple of the rows that most kernels add at once
  const std::int64_t depth = round_up(ceil_div(g.k, parts_of_k(g, threads)), unit);
  const std::int64_t parts = ceil_div(g.k, depth);
  if (parts == 1) return sums(g, threads);
  parallel_for(parts, threads, [&](std::int64_t part) {
    const std::int64_t k = part * depth;
    Gemm<In, Acc> share = g;
    share.k = std::min(depth, g.k - k);
    share.a.data = &g.a(0, k);
    share.b.data = &g.b(k, 0);
    if (part > 0) {
      share.beta = Acc{};
      share.c = {partial + (part - 1) * g.m * g.n, g.n, 1};
    }
    sums(share, 1);
  });
  add_partial(g, partial, parts - 1, threads);
}

/// Up to `few` columns of C, where columns of A are contiguous. sums(g transposed, memory) writes to rows
/// of C transposed, which must be contiguous: those of a copy, unless C is a single column. `memory` has
/// room for `room` elements.
template <class In, class Out, class Sums>
void sums_of_columns(const Gemm<In, Out>& g, std::int64_t room, const Sums& sums) {
  Gemm<In, Out> t = transposed(g);
  if (g.n == 1 && g.c.row_stride == 1) {
    t.c = {g.c.data, g.m, 1};
    return sums(t, scratch<Out>(room));
  }
  t.beta = Out{};
  Out* const copy = scratch<Out>(g.m * g.n + room);
  t.c = {copy, g.m, 1};
  sums(t, copy + g.m * g.n);
  for (std::int64_t i = 0; i < g.m; ++i) {
    for (std::int64_t j = 0; j < g.n; ++j) {
      Out& c = g.c(i, j);
      c = g.beta == Out{} ? t.c(j, i) : t.c(j, i) + g.beta * c;
    }
  }
}

}  // namespace rung::cpu
