// gemm/cpu/11_masked_edges: for small products: read A and B in place, and mask the columns that a
//   partial tile does not have; for a short k, keep B in registers; for few rows or columns, let
//   all of B or of A pass by. Threads take equal parts of C.
// from: 07_direct | removes: full tiles for a few columns, packing, and most of a call's overhead
//   | bottleneck: operands beyond the L2 cache
// needs: nothing; types other than f32 and f64 run 07 | try: rung bench gemm/cpu/07 gemm/cpu/11
//   --sizes 8,16,37,100 --threads 1

#include <algorithm>
#include <type_traits>

#include "device/cpu/integers.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/masked_kernels.hpp"
#include "device/cpu/micro_kernels.hpp"
#include "device/cpu/parts_of_c.hpp"
#include "device/cpu/passing.hpp"
#include "device/cpu/rung.hpp"
#include "device/cpu/short_k.hpp"

namespace rung {

extern const cpu::GemmRung gemm_cpu_07_direct;

namespace {

// A strip of B, KC rows by the columns of a tile, fills L1. Where it is packed, it is on the stack.
// Tiles of few rows read a strip so often that it must stay in L1 beside their rows of A.
constexpr std::int64_t max_KC = 256, max_KC_of_few_rows = 128;
constexpr std::int64_t max_panel_bytes = 32 << 10, max_copy_of_few_rows = 24 << 10, short_k = 32;
// Tiles that read a copy of a strip, which make up for what it takes; the unit of a thread's rows.
constexpr std::int64_t tiles_of_copy = 4, rows_of_part = 4;
// With few registers, from this many rows on a copy is faster than a B that passes by.
constexpr std::int64_t rows_of_copy = 32;

/// The rows of the tiles of a strip of `cols` columns.
template <class T>
std::int64_t tile_rows(const cpu::MaskedKernels<T>& kernels, std::int64_t m, std::int64_t cols) {
  const std::int64_t rows = kernels.strip_rows(cols);
  return cols <= 2 * kernels.lanes || m < rows ? cpu::even_part(m, rows) : rows;
}

struct MaskedEdges {
  template <class In, class Out>
  static void run(const Gemm<In, Out>& g, int threads) {
    constexpr std::int64_t most = std::int64_t{1} << 31;
    constexpr bool is_supported = std::is_same_v<In, Out> && std::is_floating_point_v<Out>;
    if constexpr (is_supported) {
      if (g.m == 0 || g.n == 0) return;
      if (g.m < most && g.k < most) {
        if (threads == 1) return multiply(g);
        const std::int64_t cols_of_part = 2 * cpu::masked_kernels<In>().lanes;
        return cpu::for_parts_of_c(g, threads, rows_of_part, cols_of_part,
                                   [](const Gemm<In, Out>& part) { multiply(part); });
      }
    }
    gemm_cpu_07_direct.function<In, Out>()(g, threads);
  }

  template <class T>
  static void multiply(const Gemm<T, T>& g) {
    if (cpu::multiply_short_k(g)) return;
    const auto& kernels = cpu::masked_kernels<T>();
    if (g.b.col_stride != 1 || !kernels.masks_b) return by_columns(g, kernels, From::packed);
    if (is_one_tile(g, kernels))
      return kernels.tile(g.m, g.n)(cpu::masked_tile_of(g, 0, g.k, 0, g.n));
    const bool few_rows = kernels.has_few_rows(), copies = copies_strips(g, kernels);
    const bool writes_far = is_beyond_l2(g) && g.k <= short_k && g.k * g.n <= most_of_b(g);
    if (writes_far && !few_rows) return by_rows(g, kernels);
    const bool passes = !copies || !few_rows || g.m < rows_of_copy;
    if (passes && cpu::multiply_passing(g, kernels)) return;
    by_columns(g, kernels, copies ? From::copy : From::matrix);
  }

  /// Whether one tile without a loop around it is all.
  template <class T>
  static bool is_one_tile(const Gemm<T, T>& g, const cpu::MaskedKernels<T>& kernels) {
    if (g.m > kernels.MR || g.n > 4 * kernels.lanes || g.k > max_KC) return false;
    const std::int64_t rows =
        g.n > 2 * kernels.lanes ? kernels.most_rows(g.n) : kernels.strip_rows(g.n);
    return g.m <= std::min(rows, cpu::rows_without_conflicts(g, kernels)) &&
           kernels.tile_cols(g.m, g.n, g.k) == g.n;
  }

  /// Where tiles read B: in place, from a copy that the first tile leaves, or from a packed panel.
  enum class From { matrix, copy, packed };

  template <class T>
  static void by_columns(const Gemm<T, T>& g, const cpu::MaskedKernels<T>& kernels, From from) {
    const std::int64_t in_place = kernels.has_few_rows() ? max_KC_of_few_rows : max_KC;
    const std::int64_t copied = (kernels.has_few_rows() ? max_copy_of_few_rows : max_panel_bytes) /
                                (4 * kernels.lanes * std::int64_t{sizeof(T)});
    const std::int64_t KC =
        cpu::even_part(std::max<std::int64_t>(g.k, 1), from == From::matrix ? in_place : copied);
    const std::int64_t most = cpu::rows_without_conflicts(g, kernels);
    // k0 == 0 runs even if K is 0, to apply beta.
    for (std::int64_t k0 = 0; k0 == 0 || k0 < g.k; k0 += KC) {
      const std::int64_t k = std::min(KC, g.k - k0);
      for (std::int64_t j = 0; j < g.n;) {
        const std::int64_t cols = kernels.tile_cols(kernels.wide_rows, g.n - j, k);
        const std::int64_t MR = std::min(tile_rows(kernels, g.m, cols), most);
        if (from == From::packed) {
          packed_strip(g, kernels, MR, k0, k, j, cols);
        } else if (from == From::copy) {
          copied_strip(g, kernels, MR, k0, k, j, cols);
        } else {
          strip(g, kernels, MR, k0, k, j, cols, &g.b(k0, j), g.b.row_stride);
        }
        j += cols;
      }
    }
  }

  /// Whether lines of a strip of B evict each other from L1: its rows, `stride` bytes apart, begin
  /// in few of the 64 sets.
  static bool shares_sets(std::int64_t stride, std::int64_t rows, std::int64_t row_bytes) {
    const std::int64_t power_of_two = stride & -stride;  // the largest that divides it
    const std::int64_t begins = std::max<std::int64_t>(1, cpu::l1_way_bytes / power_of_two);
    return begins * row_bytes < cpu::l1_way_bytes && rows > begins * cpu::l1_ways;
  }

  /// Whether there are tiles enough to make up for a copy of each strip of B, and B in place is
  /// slow. With few registers it also is where a C passes by that evicts it, or where vectors are
  /// in two lines.
  template <class T>
  static bool copies_strips(const Gemm<T, T>& g, const cpu::MaskedKernels<T>& kernels) {
    const std::int64_t widest = std::min(g.n, 4 * kernels.lanes) * std::int64_t{sizeof(T)};
    if (g.m >= tiles_of_copy * kernels.wide_rows &&
        shares_sets(g.b.row_stride * std::int64_t{sizeof(T)}, g.k, widest)) {
      return true;
    }
    return kernels.has_few_rows() &&
           cpu::few_rows_share_copies(g.m, g.m * g.n * std::int64_t{sizeof(T)},
                                      cpu::machine().caches.l2,
                                      g.b.row_stride % kernels.lanes == 0);
  }

  template <class T>
  static bool is_beyond_l2(const Gemm<T, T>& g) {
    return g.m * g.n * std::int64_t{sizeof(T)} > cpu::machine().caches.l2;
  }

  /// Elements of a B that by_rows() reads for each few rows: from L1, or, where C does not stay in
  /// L2, from a part of L2.
  template <class T>
  static std::int64_t most_of_b(const Gemm<T, T>& g) {
    const std::int64_t bytes = is_beyond_l2(g) ? cpu::machine().caches.l2 / 16 : 0;
    return std::max(bytes, max_panel_bytes) / std::int64_t{sizeof(T)};
  }

  /// For a short k, storing C is most of the work: along its rows. Beyond L2 tiles of 14 rows by
  /// two vectors write it faster than one vector after the other.
  template <class T>
  static void by_rows(const Gemm<T, T>& g, const cpu::MaskedKernels<T>& kernels) {
    const std::int64_t widest = kernels.tile_cols(kernels.wide_rows, g.n, g.k);
    const std::int64_t MR = tile_rows(kernels, g.m, widest);
    Gemm<T, T> part = g;
    for (std::int64_t i = 0; i < g.m; i += MR) {
      part.m = std::min(MR, g.m - i);
      part.a.data = &g.a(i, 0);
      part.c.data = &g.c(i, 0);
      for (std::int64_t j = 0; j < g.n;) {
        const std::int64_t cols = kernels.tile_cols(part.m, g.n - j, g.k);
        strip(part, kernels, part.m, 0, g.k, j, cols, &g.b(0, j), g.b.row_stride);
        j += cols;
      }
    }
  }

  template <class T>
  static void packed_strip(const Gemm<T, T>& g, const cpu::MaskedKernels<T>& kernels,
                           std::int64_t MR, std::int64_t k0, std::int64_t k, std::int64_t j,
                           std::int64_t cols) {
    alignas(64) T panel[max_panel_bytes / sizeof(T)];
    const std::int64_t width = (cols + kernels.lanes - 1) / kernels.lanes * kernels.lanes;
    if (g.b.col_stride == 1) {
      cpu::micro_kernels<T>().pack_rows(k, &g.b(k0, j), g.b.row_stride, cols, width, panel);
    } else {
      kernels.transpose(k, &g.b(k0, j), g.b.col_stride, cols, width, panel);
    }
    strip(g, kernels, MR, k0, k, j, cols, panel, width);
  }

  /// The first tile leaves a copy of the strip of B for the others.
  template <class T>
  static void copied_strip(const Gemm<T, T>& g, const cpu::MaskedKernels<T>& kernels,
                           std::int64_t MR, std::int64_t k0, std::int64_t k, std::int64_t j,
                           std::int64_t cols) {
    alignas(64) T panel[max_panel_bytes / sizeof(T)];
    Gemm<T, T> part = g;
    part.m = MR;
    strip(part, kernels, MR, k0, k, j, cols, &g.b(k0, j), g.b.row_stride, panel);
    part.m = g.m - MR;
    part.a.data = &g.a(MR, 0);
    part.c.data = &g.c(MR, 0);
    strip(part, kernels, MR, k0, k, j, cols, panel, kernels.width(cols));
  }

  /// C(:, j … j + cols), for k0 … k0 + k. With a `copy`, leaves the strip of B there.
  template <class T>
  static void strip(const Gemm<T, T>& g, const cpu::MaskedKernels<T>& kernels, std::int64_t MR,
                    std::int64_t k0, std::int64_t k, std::int64_t j, std::int64_t cols, const T* b,
                    std::int64_t b_k, T* copy = nullptr) {
    cpu::MaskedTile<T> tile = cpu::masked_tile_of(g, k0, k, j, cols);
    tile.b = b;
    tile.b_k = b_k;
    if (copy != nullptr) {
      tile.copy = copy;
      tile.fetch(tile.c, tile.ldc, cols - 1, k);
    }
    // A tile and a rest of few rows are two smaller ones.
    const std::int64_t rest = g.m % MR, whole = g.m / MR - (0 < rest && 2 * rest < MR ? 1 : 0);
    std::int64_t i = 0;
    if (copy == nullptr && k > 0 && MR == kernels.strip_rows(cols) && 2 * cols > kernels.lanes) {
      kernels.tiles_of_strip(cols)(tile, whole);
      i = whole * MR;
      tile.a += i * g.a.row_stride;
      tile.c += i * g.c.row_stride;
    }
    for (std::int64_t rows; i < g.m; i += rows) {
      rows = g.m - i >= 2 * MR ? MR : g.m - i > MR ? (g.m - i + 1) / 2 : g.m - i;
      kernels.tile(rows, cols)(tile);
      tile.a += rows * g.a.row_stride;
      tile.c += rows * g.c.row_stride;
    }
  }
};

}  // namespace

extern const cpu::GemmRung gemm_cpu_11_masked_edges = cpu::gemm_rung<MaskedEdges>();

}  // namespace rung
