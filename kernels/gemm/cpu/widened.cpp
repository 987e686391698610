// gemm/cpu/widened: 16-bit operands are widened to float once, block by block, and multiplied by a
//   kernel for floats.
// from: just_in_time | removes: panels packed before they are used, and the tile loops that
//   cache_blocks runs even for the smallest 16-bit products | bottleneck: the rate of 32-bit FMAs,
//   and the widened copies of operands that are used only a few times
// needs: bf16 or f16, on CPUs without an instruction for them; other types run just_in_time | try:
//   rung bench gemm/cpu/06 gemm/cpu/widened --dtype bf16 --sizes 16,100,256

#include <algorithm>
#include <cstdint>

#include "device/cpu/integers.hpp"
#include "device/cpu/narrow_groups.hpp"
#include "device/cpu/panels.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/rung.hpp"
#include "device/cpu/widen.hpp"
#include "device/cpu/workspace.hpp"

namespace rung {

extern const cpu::GemmRung gemm_cpu_cache_blocks;
extern const cpu::GemmRung gemm_cpu_masked_edges;
extern const cpu::GemmRung gemm_cpu_just_in_time;

namespace {

using cpu::ceil_div;
using cpu::even_part;
using cpu::round_up;

// The floats of both operands stay in L3. With at most this many rows or columns in a part, its k
// is at least 512, which limits how often C is read and written.
constexpr std::int64_t max_floats = 4 << 20, max_lines = 4096;
// Up to this many multiplications, or this k, masked_edges is faster than just_in_time.
constexpr std::int64_t small = 48 * 48 * 48, short_k = 20;
// From this many rows and columns on, packed panels pay off: cache_blocks widens while it packs.
constexpr std::int64_t least_of_panels = 384;

/// A copy of a matrix as floats. Its lines are the rows or columns that are contiguous.
struct Copy {
  bool by_rows;
  std::int64_t lines, length, stride;

  template <class In>
  Copy(const Matrix<const In>& matrix, std::int64_t rows, std::int64_t cols)
      : by_rows(matrix.col_stride == 1),
        lines(by_rows ? rows : cols),
        length(by_rows ? cols : rows),
        stride(length) {
    // Long lines begin with a cache line; a stride of 4 KiB would map them to one set of L1.
    constexpr std::int64_t line = 16, long_line = 64, set_stride = 1024;
    if (length > long_line) stride = round_up(length, line);
    if (stride % set_stride == 0) stride += line;
  }

  std::int64_t elements() const { return round_up(lines * stride, std::int64_t{16}); }

  template <class In>
  Matrix<const float> fill(const Matrix<const In>& matrix, float* copy, int threads) const {
    constexpr std::int64_t task_elements = 1 << 14;
    const cpu::Widen<In> widen = cpu::widen<In>();
    const std::int64_t from = by_rows ? matrix.row_stride : matrix.col_stride;
    const std::int64_t of_task =
        std::max<std::int64_t>(1, task_elements / std::max<std::int64_t>(1, length));
    cpu::parallel_for(ceil_div(lines, of_task), threads, [&](std::int64_t task) {
      const std::int64_t begin = task * of_task, end = std::min(lines, begin + of_task);
      if (from == length && stride == length) {
        return widen(matrix.data + begin * from, (end - begin) * length, copy + begin * stride);
      }
      for (std::int64_t i = begin; i < end; ++i) {
        widen(matrix.data + i * from, length, copy + i * stride);
      }
    });
    return at(copy);
  }

  Matrix<const float> at(const float* copy) const {
    if (by_rows) return {copy, stride, 1};
    return {copy, 1, stride};
  }
};

struct Widened {
  template <class In, class Out>
  static void run(const Gemm<In, Out>& g, int threads) {
    if constexpr (cpu::widens_to_float<In>) {
      if (g.m == 0 || g.n == 0 || cpu::multiply_narrow(g, threads)) return;
      if (std::min(g.m, g.n) < least_of_panels) return multiply(g, threads);
      gemm_cpu_cache_blocks.function<In, Out>()(g, threads);
    } else {
      gemm_cpu_just_in_time.function<In, Out>()(g, threads);
    }
  }

  /// Allocates memory for the panels of every part before C is written: a last, smaller part may
  /// need more than the others, and if its allocation fails, C must be unchanged.
  template <class In>
  static void reserve_panels(const Gemm<In, float>& g, std::int64_t rows, std::int64_t cols,
                             std::int64_t depth, int threads) {
    const auto last = [](std::int64_t whole, std::int64_t part) {
      return whole % part == 0 ? part : whole % part;
    };
    std::int64_t most = 0;
    for (const std::int64_t m : {rows, last(g.m, rows)}) {
      for (const std::int64_t n : {cols, last(g.n, cols)}) {
        for (const std::int64_t k : {depth, last(g.k, depth)}) {
          const Gemm<float, float> part = {
              m,      n,  k, g.alpha, Copy(g.a, m, k).at(nullptr), Copy(g.b, k, n).at(nullptr),
              g.beta, g.c};
          const cpu::PanelBlocks blocks(cpu::masked_kernels<float>(), part, threads);
          most = std::max(most, blocks.elements(m, n, threads));
        }
      }
    }
    cpu::scratch<float>(most);
  }

  template <class In>
  static void multiply(const Gemm<In, float>& g, int threads) {
    const bool is_small = g.k <= short_k || (g.m * g.n <= small && g.m * g.n * g.k <= small);
    const auto& rung = is_small ? gemm_cpu_masked_edges : gemm_cpu_just_in_time;
    const std::int64_t rows = even_part(g.m, max_lines, 1), cols = even_part(g.n, max_lines, 1);
    const std::int64_t depth = even_part(g.k, max_floats / (rows + cols), 8);
    const std::int64_t a_floats = Copy(g.a, rows, depth).elements();
    float* const a_copy = cpu::scratch<float>(a_floats + Copy(g.b, depth, cols).elements(),
                                              cpu::ScratchFor::operands);
    const bool is_one_part = rows == g.m && cols == g.n && depth >= g.k;
    if (!is_small && !is_one_part) reserve_panels(g, rows, cols, depth, threads);
    for (std::int64_t j = 0; j < g.n; j += cols) {
      const std::int64_t n = std::min(cols, g.n - j);
      // k0 == 0 runs even if K is 0, to apply beta.
      for (std::int64_t k0 = 0; k0 == 0 || k0 < g.k; k0 += depth) {
        const std::int64_t k = std::min(depth, g.k - k0);
        const Matrix<const In> b = {&g.b(k0, j), g.b.row_stride, g.b.col_stride};
        const auto wide_b = Copy(b, k, n).fill(b, a_copy + a_floats, threads);
        for (std::int64_t i = 0; i < g.m; i += rows) {
          const std::int64_t m = std::min(rows, g.m - i);
          const Matrix<const In> a = {&g.a(i, k0), g.a.row_stride, g.a.col_stride};
          const auto wide_a = Copy(a, m, k).fill(a, a_copy, threads);
          rung.f32({m,
                    n,
                    k,
                    g.alpha,
                    wide_a,
                    wide_b,
                    k0 == 0 ? g.beta : 1,
                    {&g.c(i, j), g.c.row_stride, g.c.col_stride}},
                   threads);
        }
      }
    }
  }
};

}  // namespace

extern const cpu::GemmRung gemm_cpu_widened = cpu::gemm_rung<Widened>();

}  // namespace rung
