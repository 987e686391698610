// gemm/cpu/narrow: few rows or columns: read the large operand once, in storage order: as dot
//   products if it is contiguous along k, else as sums of its rows. Each thread takes a part of k
//   or, if k is short, of the columns.
// from: just_in_time | removes: vectors that a narrow C fills only in part, and reads that jump
//   from row to row | bottleneck: memory bandwidth
// needs: f32 or f64, and up to four rows or columns, or A stored by rows and B by columns; other
//   problems run masked_edges | try: rung bench gemm/cpu/just_in_time gemm/cpu/narrow --sizes
//   1x4096x4096,4096x1x4096

#include <algorithm>
#include <type_traits>

#include "device/cpu/integers.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/narrow_kernels.hpp"
#include "device/cpu/narrow_loops.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/rung.hpp"
#include "device/cpu/workspace.hpp"

namespace rung {

extern const cpu::GemmRung gemm_cpu_masked_edges;

namespace {

using cpu::ceil_div;
using cpu::few;
using cpu::task_elements;

// The part of C that stays in L1 while rows of B are streamed.
constexpr std::int64_t sums_bytes = 64 << 10;

struct Narrow {
  template <class In, class Out>
  static void run(const Gemm<In, Out>& g, int threads) {
    if constexpr (std::is_same_v<In, Out> && std::is_floating_point_v<Out>) {
      if (g.m == 0 || g.n == 0) return;
      if (g.k > 0 && multiply(g, threads)) return;
    }
    gemm_cpu_masked_edges.function<In, Out>()(g, threads);
  }

  /// Returns false, without computing anything, if the problem is not narrow.
  template <class T>
  static bool multiply(const Gemm<T, T>& g, int threads) {
    const bool rows_of_a = g.a.col_stride == 1;
    const bool columns_of_b = g.b.row_stride == 1;
    if (rows_of_a && columns_of_b) {
      dots(g, threads);
    } else if (rows_of_a && g.n <= few) {
      Gemm<T, T> contiguous = g;
      T* const copy = cpu::scratch<T>(g.n * g.k);
      contiguous.b = cpu::copied(g.b.transposed(), g.n, g.k, copy).transposed();
      dots(contiguous, threads);
    } else if (columns_of_b && g.m <= few) {
      Gemm<T, T> contiguous = g;
      contiguous.a = cpu::copied(g.a, g.m, g.k, cpu::scratch<T>(g.m * g.k));
      dots(contiguous, threads);
    } else if (g.b.col_stride == 1 && g.m <= few) {
      T* const partial = cpu::scratch<T>(cpu::partial_elements(g, threads));
      cpu::sum_parts_of_k(g, threads, partial, sums_of_rows<T>);
    } else if (g.a.row_stride == 1 && g.n <= few) {
      const std::int64_t room = cpu::partial_elements(cpu::transposed(g), threads);
      cpu::sums_of_columns(g, room, [&](const Gemm<T, T>& t, T* partial) {
        cpu::sum_parts_of_k(t, threads, partial, sums_of_rows<T>);
      });
    } else {
      return false;
    }
    return true;
  }

  template <class T>
  static void dots(const Gemm<T, T>& g, int threads) {
    cpu::share_dots(g, threads, [](const Gemm<T, T>& share) {
      cpu::dots_of_k<T, T>(share, cpu::narrow_kernels<T>());
    });
  }

  /// Computes all of k, or a thread's part of it. Several threads take one part of the columns
  /// each, because long runs of a row are read faster.
  template <class T>
  static void sums_of_rows(const Gemm<T, T>& g, int threads) {
    const auto& kernels = cpu::narrow_kernels<T>();
    const std::int64_t depth = cpu::even_part(g.k, cpu::NarrowKernels<T>::depth(g.m));
    const std::int64_t widest = sums_bytes / (g.m * std::int64_t{sizeof(T)});
    const std::int64_t tasks = std::min<std::int64_t>(threads, ceil_div(g.n * g.k, task_elements));
    const std::int64_t cols = cpu::round_up(std::min(widest, ceil_div(g.n, tasks)), 64);
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
};

}  // namespace

extern const cpu::GemmRung gemm_cpu_narrow = cpu::gemm_rung<Narrow>();

}  // namespace rung
