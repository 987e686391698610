#pragma once
// Loops around the kernels for few columns of C: copies of the small operand, shares of the large
// operand for threads, and parts of k.

#include <algorithm>
#include <cstdint>

#include "core/problem.hpp"
#include "device/cpu/integers.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/narrow_kernels.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/workspace.hpp"

namespace rung::cpu {

/// The maximum number of rows or columns of C for these loops.
inline constexpr std::int64_t few = 4;

/// The loop for a problem in a type narrower than its sums.
enum class NarrowLoop { none, dots, transposed_dots, row_sums, column_sums };

/// a_rows, b_rows: rows of A, of B are contiguous; a_columns, b_columns: columns are.
constexpr NarrowLoop narrow_loop(std::int64_t m, std::int64_t n, bool a_rows, bool a_columns,
                                 bool b_rows, bool b_columns) {
  if (n <= few && a_rows) return NarrowLoop::dots;
  if (m <= few && b_columns) return NarrowLoop::transposed_dots;
  if (m <= few && b_rows) return NarrowLoop::row_sums;
  return n <= few && a_columns ? NarrowLoop::column_sums : NarrowLoop::none;
}

/// The transposed problem. Rows of its C may not be contiguous.
template <class In, class Out>
Gemm<In, Out> transposed(const Gemm<In, Out>& g) {
  return {g.n, g.m, g.k, g.alpha, g.b.transposed(), g.a.transposed(), g.beta, g.c.transposed()};
}

/// Copies a fixed number of rows; a loop over up to four rows would take longer than the copies.
/// Takes the matrix by value, because the compiler must assume that byte stores change a matrix
/// passed by reference.
template <int Rows, class T>
void copy_rows(Matrix<const T> matrix, std::int64_t cols, T* copy) {
  for (std::int64_t j = 0; j < cols; ++j) {
#pragma GCC unroll 4
    for (int i = 0; i < Rows; ++i) copy[i * cols + j] = matrix(i, j);
  }
}

/// A copy of the matrix (up to `few` rows) with contiguous rows.
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

/// The maximum number of tasks. One per thread if each thread's part of the large operand fits in
/// its L2, so that repeated calls give each thread the same part; otherwise eight per thread, for
/// load balance.
template <class T>
std::int64_t max_tasks(std::int64_t elements, int threads) {
  const std::int64_t bytes = elements * std::int64_t{sizeof(T)};
  return threads * (bytes <= threads * machine().caches.l2 ? 1 : 8);
}

/// The minimum size of a task, in elements of the large operand.
inline constexpr std::int64_t task_elements = 1 << 14;

/// Steps of k that dots_of_k() takes at a time: four columns of B are in the L2 cache.
inline constexpr std::int64_t deepest_dots = 4096;

/// Multiplies over all of k, for a few columns of C or for a few rows of many columns.
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

/// Multiplies part after part of k.
template <class In, class Acc>
void dots_of_k(const Gemm<In, Acc>& g, const NarrowDots<In, Acc>& kernels) {
  constexpr std::int64_t column_KC = 1 << 16;  // one column may be longer
  const std::int64_t KC = g.n == 1 ? column_KC : deepest_dots;
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

/// Divides the rows of A, or the columns of B if there are more of these, among threads and calls
/// body(share).
template <class In, class Acc, class Body>
void share_dots(const Gemm<In, Acc>& g, int threads, const Body& body) {
  if (threads == 1) return body(g);
  const bool by_rows = g.m >= g.n;
  const std::int64_t most = by_rows ? g.m : g.n;
  const std::int64_t wanted = std::max<std::int64_t>(1, most * g.k / task_elements);
  const std::int64_t tasks = std::min(wanted, max_tasks<In>(most * g.k, threads));
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

/// The minimum length of a part of k with its own sums. Writing and reading the sums may take at
/// most 1/32 of the part's bytes. rows: rows of C; ratio: size of a sum divided by the size of an
/// element.
template <class Number>
constexpr Number least_part_of_k(Number rows, Number ratio) {
  return std::max(Number{64}, 32 * ratio * rows);
}

/// The number of parts of k when threads add rows of B. Each part has its own sums, which are small
/// compared to the part.
template <class In, class Acc>
std::int64_t parts_of_k(const Gemm<In, Acc>& g, int threads) {
  constexpr std::int64_t ratio = std::int64_t{sizeof(Acc)} / std::int64_t{sizeof(In)};
  if (threads == 1 || g.k < threads * least_part_of_k(g.m, ratio)) return 1;
  return std::min<std::int64_t>(threads, ceil_div(g.n * g.k, task_elements));
}

/// The number of elements that sum_parts_of_k() needs in `partial`.
template <class In, class Acc>
std::int64_t partial_elements(const Gemm<In, Acc>& g, int threads) {
  return (parts_of_k(g, threads) - 1) * g.m * g.n;
}

/// Adds `count` matrices of the size of C, stored consecutively at `partial`, to C.
template <class In, class Acc>
void add_partial(const Gemm<In, Acc>& g, const Acc* partial, std::int64_t count, int threads) {
  constexpr std::int64_t least_additions = 1 << 13, least_columns = 64, max_columns = 2048;
  const std::int64_t least =
      std::clamp(ceil_div(least_additions, count * g.m), least_columns, max_columns);
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

/// Few rows of C, as sums of rows of B, computed by sums(share, threads). Each thread reads a part
/// of k, which is contiguous memory, rather than parts of all rows. `partial` has
/// partial_elements() elements.
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

/// Up to `few` columns of C, with contiguous columns of A. sums(transposed g, memory) writes to the
/// rows of the transposed C, which must be contiguous: it gets a copy unless C is a single column.
/// `memory` has `room` elements.
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
