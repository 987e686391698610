#pragma once
// Divides C among threads.

#include <algorithm>
#include <cstdint>

#include "core/problem.hpp"
#include "device/cpu/integers.hpp"
#include "device/cpu/parallel.hpp"

namespace rung::cpu {

/// gemm/cpu/masked_edges gives threads multiples of this many rows, or of two vectors of columns.
inline constexpr std::int64_t rows_of_part = 4;

/// Calls multiply(part) for a part of the rows of C, or of its columns, for each thread: whichever
/// leaves less to the busiest one, or else a part of the longer side. Few rows stay together unless
/// that leaves a tenth more to it, because each part of them reads all of B. Parts are multiples of
/// `row_step` rows or `col_step` columns. Equal calls give a thread the same part of C, which is
/// then in its caches.
template <class T, class Multiply>
void partition_among_threads(const Gemm<T, T>& g, int threads, std::int64_t row_step,
                             std::int64_t col_step, const Multiply& multiply) {
  const std::int64_t rows = round_up(ceil_div(g.m, std::int64_t{threads}), row_step);
  const std::int64_t cols = round_up(ceil_div(g.n, std::int64_t{threads}), col_step);
  const auto of_busiest_by_rows = static_cast<double>(rows) / static_cast<double>(g.m);
  const auto of_busiest_by_cols = static_cast<double>(cols) / static_cast<double>(g.n);
  constexpr std::int64_t few_rows = 64;
  const double price_of_rows = g.m <= few_rows && g.m < g.n ? 1.1 : 1;
  const double by_rows_at = price_of_rows * of_busiest_by_rows;
  const bool by_rows =
      by_rows_at == of_busiest_by_cols ? g.m >= g.n : by_rows_at < of_busiest_by_cols;
  const std::int64_t parts = by_rows ? ceil_div(g.m, rows) : ceil_div(g.n, cols);
  parallel_for(parts, threads, [&](std::int64_t index) {
    Gemm<T, T> part = g;
    const std::int64_t i = by_rows ? index * rows : 0, j = by_rows ? 0 : index * cols;
    part.m = by_rows ? std::min(rows, g.m - i) : g.m;
    part.n = by_rows ? g.n : std::min(cols, g.n - j);
    part.a.data = g.a.data + i * g.a.row_stride;
    part.b.data = g.b.data + j * g.b.col_stride;
    part.c.data = &g.c(i, j);
    multiply(part);
  });
}

}  // namespace rung::cpu
