// gemm/cpu/masked_edges: small products: read A and B in place and mask the columns of a partial
//   tile; for a short k, keep B in registers; for few rows or columns, stream all of B or of A.
//   Threads compute equal parts of C.
// from: unpacked | removes: full tiles for a few columns, packing, and most of the overhead of a
//   call | bottleneck: operands larger than the L2 cache
// needs: nothing; types other than f32 and f64 run unpacked | try: rung bench gemm/cpu/unpacked
//   gemm/cpu/masked_edges --sizes 8,16,37,100 --threads 1

#include <algorithm>
#include <type_traits>

#include "device/cpu/copied_b.hpp"
#include "device/cpu/integers.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/masked_kernels.hpp"
#include "device/cpu/micro_kernels.hpp"
#include "device/cpu/rung.hpp"
#include "device/cpu/short_k.hpp"
#include "device/cpu/streamed_a.hpp"
#include "device/cpu/streamed_b.hpp"
#include "device/cpu/thread_partition.hpp"

namespace rung {

extern const cpu::GemmRung gemm_cpu_unpacked;

namespace {

// A strip of B (KC rows by the columns of a tile) fills L1. A packed strip is on the stack. Tiles
// of few rows read a strip so often that it must stay in L1 together with their rows of A.
constexpr std::int64_t max_KC = 256, max_KC_of_few_rows = 128;
constexpr std::int64_t max_panel_bytes = 32 << 10, max_copy_of_few_rows = 24 << 10, short_k = 32;
// With few registers, from this many rows on a copy is faster than a B that passes by.
constexpr std::int64_t rows_of_copy = 32;

/// The rows of the tiles of a strip of `cols` columns.
template <class T>
std::int64_t tile_rows(const cpu::MaskedKernels<T>& kernels, std::int64_t m, std::int64_t cols) {
  const std::int64_t rows = kernels.strip_rows(cols);
  return cols <= 2 * kernels.lanes || m < rows ? cpu::even_part(m, rows) : rows;
}

/// Multiplies if one of the streaming methods applies. Rows of B must be contiguous. Returns false
/// for other products.
template <class T>
bool multiply_streamed(const Gemm<T, T>& g, const cpu::MaskedKernels<T>& kernels) {
  if (cpu::streams_b(g, kernels)) return cpu::multiply_streamed_b(g, kernels), true;
  if (cpu::streams_a(g)) return cpu::multiply_streamed_a(g, kernels), true;
  if (cpu::copies_strips(g, kernels)) return cpu::multiply_copied_strips(g, kernels), true;
  return false;
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
        return cpu::partition_among_threads(g, threads, cpu::rows_of_part, cols_of_part,
                                            [](const Gemm<In, Out>& part) { multiply(part); });
      }
    }
    gemm_cpu_unpacked.function<In, Out>()(g, threads);
  }

  template <class T>
  static void multiply(const Gemm<T, T>& g) {
    if (cpu::multiply_short_k(g)) return;
    const auto& kernels = cpu::masked_kernels<T>();
    if (g.b.col_stride != 1 || !kernels.masks_b) return by_columns(g, kernels, From::packed);
    if (is_one_tile(g, kernels))
      return kernels.tile(g.m, g.n)(cpu::masked_tile_of(g, 0, g.k, 0, g.n));
    const bool few_rows = kernels.has_few_rows(), copies = copies_strips(g, kernels);
    const bool writes_far = is_beyond_l2(g) && g.k <= short_k && g.k * g.n <= max_of_b(g);
    if (writes_far && !few_rows) return by_rows(g, kernels);
    const bool passes = !copies || !few_rows || g.m < rows_of_copy;
    if (passes && multiply_streamed(g, kernels)) return;
    by_columns(g, kernels, copies ? From::copy : From::matrix);
  }

  /// True if one tile is the whole product.
  template <class T>
  static bool is_one_tile(const Gemm<T, T>& g, const cpu::MaskedKernels<T>& kernels) {
    if (g.m > kernels.MR || g.n > 4 * kernels.lanes || g.k > max_KC) return false;
    const std::int64_t rows =
        g.n > 2 * kernels.lanes ? kernels.max_tile_rows(g.n) : kernels.strip_rows(g.n);
    return g.m <= std::min(rows, cpu::rows_without_conflicts(g, kernels)) &&
           kernels.tile_cols(g.m, g.n, g.k) == g.n;
  }

  /// Tiles read B in place, from a copy that the first tile stores, or from a packed panel.
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

  /// True if enough tiles share a copy of each strip of B, and B in place is slow. With few
  /// registers, B in place is also slow if C evicts it from the cache, or if its vectors cross
  /// lines.
  template <class T>
  static bool copies_strips(const Gemm<T, T>& g, const cpu::MaskedKernels<T>& kernels) {
    const std::int64_t widest = std::min(g.n, 4 * kernels.lanes) * std::int64_t{sizeof(T)};
    if (g.m >= cpu::tiles_of_copy * kernels.wide_rows &&
        cpu::strip_shares_sets(g.b.row_stride * std::int64_t{sizeof(T)}, g.k, widest)) {
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

  /// The largest B, in elements, that by_rows() may read again for each few rows: it stays in L1
  /// or, if C does not fit in L2, in a part of L2.
  template <class T>
  static std::int64_t max_of_b(const Gemm<T, T>& g) {
    const std::int64_t bytes = is_beyond_l2(g) ? cpu::machine().caches.l2 / 16 : 0;
    return std::max(bytes, max_panel_bytes) / std::int64_t{sizeof(T)};
  }

  /// For a short k, storing C dominates, so C is stored along its rows. If C exceeds L2, tiles of
  /// 14 rows by two vectors write it faster than one vector at a time.
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

  /// The first tile stores a copy of the strip of B for the others.
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

  /// Computes columns [j, j + cols) of C for steps [k0, k0 + k). Stores the strip of B in `copy`,
  /// if it is not null.
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
    // A full tile and a remainder of few rows become two smaller tiles.
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

extern const cpu::GemmRung gemm_cpu_masked_edges = cpu::gemm_rung<MaskedEdges>();

}  // namespace rung
