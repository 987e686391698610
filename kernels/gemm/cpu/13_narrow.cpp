// gemm/cpu/13_narrow: for few rows or columns: read the large operand once, in the order in which
//   it is stored: as dot products where it is contiguous along k, otherwise as sums of its rows.
// from: 12_just_in_time | removes: vectors that a narrow C fills only in part, and reads that jump
//   from row to row | bottleneck: the rate of memory
// needs: up to four rows or columns, or A stored by rows and B by columns, and f32 or f64; other
//   problems run 11 | try: rung bench gemm/cpu/12 gemm/cpu/13 --sizes 1x4096x4096,4096x1x4096

#include <algorithm>
#include <type_traits>

#include "device/cpu/integers.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/narrow_kernels.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/rung.hpp"
#include "device/cpu/workspace.hpp"

namespace rung {

extern const cpu::GemmRung gemm_cpu_11_masked_edges;

namespace {

using cpu::ceil_div;

constexpr std::int64_t few = 4;
// Of k at a time, in elements: four columns of B in the L2 cache; one column may be longer.
constexpr std::int64_t dots_KC = 4096;
constexpr std::int64_t column_KC = 1 << 16;
// The part of C that stays in L1 while rows of B pass by.
constexpr std::int64_t sums_bytes = 64 << 10;
// The least part of the large operand that is worth a task of its own.
constexpr std::int64_t task_elements = 1 << 14;

struct Narrow {
  template <class In, class Out>
  static void run(const Gemm<In, Out>& g, int threads) {
    if constexpr (std::is_same_v<In, Out> && std::is_floating_point_v<Out>) {
      if (g.m == 0 || g.n == 0) return;
      if (g.k > 0 && multiply(g, threads)) return;
    }
    gemm_cpu_11_masked_edges.function<In, Out>()(g, threads);
  }

  /// False if the problem is not narrow.
  template <class T>
  static bool multiply(const Gemm<T, T>& g, int threads) {
    const bool rows_of_a = g.a.col_stride == 1;
    const bool columns_of_b = g.b.row_stride == 1;
    if (rows_of_a && columns_of_b) {
      dots(g, threads);
    } else if (rows_of_a && g.n <= few) {
      Gemm<T, T> contiguous = g;
      contiguous.b = copied(g.b.transposed(), g.n, g.k).transposed();
      dots(contiguous, threads);
    } else if (columns_of_b && g.m <= few) {
      Gemm<T, T> contiguous = g;
      contiguous.a = copied(g.a, g.m, g.k);
      dots(contiguous, threads);
    } else if (g.b.col_stride == 1 && g.m <= few) {
      sums_of_rows(g, threads);
    } else if (g.a.row_stride == 1 && g.n <= few) {
      transposed(g, threads);
    } else {
      return false;
    }
    return true;
  }

  /// The same matrix, of up to `few` rows, with contiguous rows.
  template <class T>
  static Matrix<const T> copied(const Matrix<const T>& matrix, std::int64_t rows,
                                std::int64_t cols) {
    T* const copy = cpu::scratch<T>(rows * cols);
    switch (rows) {
      case 1: copy_rows<1>(matrix, cols, copy); break;
      case 2: copy_rows<2>(matrix, cols, copy); break;
      case 3: copy_rows<3>(matrix, cols, copy); break;
      default: copy_rows<4>(matrix, cols, copy);
    }
    return {copy, cols, 1};
  }

  /// A loop over so few rows takes longer than what it copies, unless their number is fixed.
  template <int Rows, class T>
  static void copy_rows(const Matrix<const T>& matrix, std::int64_t cols, T* copy) {
    for (std::int64_t j = 0; j < cols; ++j) {
#pragma GCC unroll 4
      for (int i = 0; i < Rows; ++i) copy[i * cols + j] = matrix(i, j);
    }
  }

  /// One for each thread where its part of the large operand stays in its L2: threads take tasks in
  /// turn, and of as many as there are threads each takes the same again. Otherwise `balanced`.
  template <class T>
  static std::int64_t most_tasks(std::int64_t elements, int threads, std::int64_t balanced) {
    const std::int64_t bytes = elements * std::int64_t{sizeof(T)};
    return threads * (bytes <= threads * cpu::machine().caches.l2 ? 1 : balanced);
  }

  template <class T>
  static void dots(const Gemm<T, T>& g, int threads) {
    if (threads == 1) return dots_of_k(g);
    const bool by_rows = g.m >= g.n;
    const std::int64_t most = by_rows ? g.m : g.n;
    const std::int64_t wanted = std::max<std::int64_t>(1, most * g.k / task_elements);
    const std::int64_t tasks = std::min(wanted, most_tasks<T>(most * g.k, threads, 8));
    const std::int64_t part =
        cpu::round_up(ceil_div(most, tasks), cpu::NarrowKernels<T>::column_rows);
    cpu::parallel_for(ceil_div(most, part), threads, [&](std::int64_t task) {
      const std::int64_t begin = task * part;
      Gemm<T, T> share = g;
      (by_rows ? share.m : share.n) = std::min(part, most - begin);
      (by_rows ? share.a.data : share.b.data) = by_rows ? &g.a(begin, 0) : &g.b(0, begin);
      share.c.data = by_rows ? &g.c(begin, 0) : &g.c(0, begin);
      dots_of_k(share);
    });
  }

  /// A part of k after the other.
  template <class T>
  static void dots_of_k(const Gemm<T, T>& g) {
    const auto& kernels = cpu::narrow_kernels<T>();
    const std::int64_t KC = g.n == 1 ? column_KC : dots_KC;
    if (g.k <= KC) return dot_block(g, kernels);
    for (std::int64_t k0 = 0; k0 < g.k; k0 += KC) {
      Gemm<T, T> block = g;
      block.k = std::min(KC, g.k - k0);
      block.beta = k0 == 0 ? g.beta : T{1};
      block.a.data = &g.a(0, k0);
      block.b.data = &g.b(k0, 0);
      dot_block(block, kernels);
    }
  }

  template <class T>
  static void dot_block(const Gemm<T, T>& g, const cpu::NarrowKernels<T>& kernels) {
    constexpr std::int64_t column_rows = cpu::NarrowKernels<T>::column_rows;
    cpu::DotTile<T> tile = {g.k,     g.a.data, g.a.row_stride, g.b.data,       g.b.col_stride,
                            g.alpha, g.beta,   g.c.data,       g.c.row_stride, 1};
    for (std::int64_t i = 0; i < g.m;) {
      const std::int64_t left = g.m - i;
      const std::int64_t rows = g.n == 1 && left >= column_rows ? column_rows : std::min(left, few);
      tile.a = &g.a(i, 0);
      for (std::int64_t j = 0; j < g.n; j += few) {
        tile.b = &g.b(0, j);
        tile.c = &g.c(i, j);
        const auto kernel = rows == column_rows
                                ? kernels.column
                                : kernels.dots[rows - 1][std::min(few, g.n - j) - 1];
        kernel(tile);
      }
      i += rows;
    }
  }

  template <class T>
  static void sums_of_rows(const Gemm<T, T>& g, int threads) {
    const auto& kernels = cpu::narrow_kernels<T>();
    const std::int64_t depth = cpu::even_part(g.k, cpu::NarrowKernels<T>::depth(g.m));
    const std::int64_t widest = sums_bytes / (g.m * std::int64_t{sizeof(T)});
    const std::int64_t wanted = threads == 1 ? 1
                                             : std::min(ceil_div(g.n * g.k, task_elements),
                                                        most_tasks<T>(g.n * g.k, threads, 4));
    const std::int64_t cols = cpu::round_up(std::min(widest, ceil_div(g.n, wanted)), 64);
    cpu::parallel_for(ceil_div(g.n, cols), threads, [&](std::int64_t task) {
      const std::int64_t j = task * cols;
      for (std::int64_t k = 0; k < g.k; k += depth) {
        const std::int64_t last = std::min(depth, g.k - k) - 1;
        kernels.row_sums[g.m - 1][last]({std::min(cols, g.n - j), &g.a(0, k), g.a.row_stride,
                                         g.a.col_stride, &g.b(k, j), g.b.row_stride, g.alpha,
                                         k == 0 ? g.beta : T{1}, &g.c(0, j), g.c.row_stride});
      }
    });
  }

  // C^T = B^T A^T has rows that are not contiguous, except a single one.
  template <class T>
  static void transposed(const Gemm<T, T>& g, int threads) {
    Gemm<T, T> t = {g.n, g.m, g.k, g.alpha, g.b.transposed(), g.a.transposed(), g.beta, {}};
    if (g.n == 1 && g.c.row_stride == 1) {
      t.c = {g.c.data, g.m, 1};
      return sums_of_rows(t, threads);
    }
    t.beta = T{};
    t.c = {cpu::scratch<T>(g.m * g.n), g.m, 1};
    sums_of_rows(t, threads);
    for (std::int64_t i = 0; i < g.m; ++i) {
      for (std::int64_t j = 0; j < g.n; ++j) {
        T& c = g.c(i, j);
        c = g.beta == T{} ? t.c(j, i) : t.c(j, i) + g.beta * c;
      }
    }
  }
};

}  // namespace

extern const cpu::GemmRung gemm_cpu_13_narrow = cpu::gemm_rung<Narrow>();

}  // namespace rung
