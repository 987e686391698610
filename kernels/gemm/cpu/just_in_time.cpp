// gemm/cpu/just_in_time: just-in-time packing: the first tile of a strip stores the elements of B
//   that it has loaded as a packed panel for the other tiles of the strip; strips of three or four
//   vectors need the fewest loads. A is read in place while L1 holds the rows of a tile; with 16
//   registers, B's panel is in L1 and A's block in L2.
// from: cache_blocks | removes: a separate packing pass, during which no FMA is issued |
//   bottleneck: the FMA rate; memory bandwidth for few rows or columns
// needs: nothing; types other than f32 and f64 run cache_blocks | try: rung bench
//   gemm/cpu/cache_blocks gemm/cpu/just_in_time --sizes 2048,64x2496x1088,3608x136x656

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <type_traits>

#include "device/cpu/fetches.hpp"
#include "device/cpu/integers.hpp"
#include "device/cpu/masked_kernels.hpp"
#include "device/cpu/panels.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/rung.hpp"
#include "device/cpu/workspace.hpp"

namespace rung {

extern const cpu::GemmRung gemm_cpu_cache_blocks;

namespace {

using cpu::ceil_div;
using cpu::line;
using cpu::PanelBlocks;
using cpu::Range;
using cpu::Slab;

constexpr std::int64_t max_packed_rows = 8192;  // 16 MiB of packed A

struct JustInTime {
  template <class In, class Out>
  static void run(const Gemm<In, Out>& g, int threads) {
    if constexpr (std::is_same_v<In, Out> && std::is_floating_point_v<Out>) {
      if (g.m != 0 && g.n != 0) multiply_rows(g, threads);
    } else {
      gemm_cpu_cache_blocks.function<In, Out>()(g, threads);
    }
  }

  /// Runs up to max_packed_rows rows at a time, which limits the memory for packed A.
  template <class T>
  static void multiply_rows(const Gemm<T, T>& g, int threads) {
    const std::int64_t rows = cpu::even_part(g.m, max_packed_rows, 1);
    for (std::int64_t i = 0; i < g.m; i += rows) {
      Gemm<T, T> part = g;
      part.m = std::min(rows, g.m - i);
      part.a.data = &g.a(i, 0);
      part.c.data = &g.c(i, 0);
      multiply(part, threads);
    }
  }

  // Allocates, before C is written, the panels of a group of strips of B for each worker and the
  // packed A that all workers read.
  template <class T>
  static void multiply(const Gemm<T, T>& g, int threads) {
    const auto& kernels = cpu::masked_kernels<T>();
    const PanelBlocks blocks(kernels, g, threads);
    const std::int64_t b_elements = blocks.KC * blocks.panel_cols, of_worker = blocks.of_worker();
    const std::int64_t block_rows = ceil_div(g.m, blocks.MC);
    const std::int64_t block_count = block_rows * ceil_div(g.n, blocks.NC);
    const std::int64_t workers = blocks.workers(g.m, g.n, threads);
    T* const memory = cpu::scratch<T>(blocks.elements(g.m, g.n, threads));
    T* const packed_a = memory + workers * of_worker;
    const auto add_products = [&](Range ks) {
      std::atomic<std::int64_t> next = 0;
      cpu::parallel_for(workers, threads, [&](std::int64_t worker) {
        T* const panels = memory + worker * of_worker;
        for (std::int64_t block = next++; block < block_count; block = next++) {
          const std::int64_t i = block % block_rows * blocks.MC;
          const std::int64_t j = block / block_rows * blocks.NC;
          const Range rows = {i, std::min(i + blocks.MC, g.m)};
          const Range cols = {j, std::min(j + blocks.NC, g.n)};
          // k0 == 0 runs even if K is 0, to apply beta.
          for (std::int64_t k0 = ks.begin; k0 == 0 || k0 < ks.end; k0 += blocks.KC) {
            const Range part = {k0, std::min(k0 + blocks.KC, ks.end)};
            const Slab<T> slab = {g, kernels, blocks, packed_a, panels + b_elements, part};
            for (std::int64_t at = j; at < cols.end; at += blocks.group) {
              const Range strips = {at, std::min(at + blocks.group, cols.end)};
              blocks.few_rows ? blocks_of_rows(slab, rows, strips, panels)
                              : group_of_strips(slab, rows, strips, panels);
            }
          }
        }
      });
    };
    if (!blocks.packs_a) return add_products({0, g.k});
    for (std::int64_t k0 = 0; k0 == 0 || k0 < g.k; k0 += blocks.KC) {
      const Range ks = {k0, std::min(k0 + blocks.KC, g.k)};
      cpu::pack_panels_of_a(kernels, g, blocks, ks.begin, ks.end - ks.begin, packed_a, threads);
      add_products(ks);
    }
  }

  /// Multiplies a block of A by a group of strips of B. The first tiles of each strip fill its
  /// panel; then each panel of A, in L1, is multiplied by the panels of B, in L2.
  template <class T>
  static void group_of_strips(const Slab<T>& slab, Range rows, Range cols, T* panels) {
    const PanelBlocks& blocks = slab.blocks;
    const bool is_one_strip = cols.end - cols.begin <= blocks.NR;
    const std::int64_t first_end =
        is_one_strip && !blocks.packs_a_late
            ? rows.end
            : std::min(rows.end, rows.begin + blocks.vectors * blocks.MR);
    if (blocks.packs_a_late) slab.pack_late({rows.begin, first_end});
    for (std::int64_t j = cols.begin, count; j < cols.end; j += count) {
      count = blocks.strip_cols(cols.end - j, slab.kernels.lanes);
      first_rows(slab, {rows.begin, first_end}, j, count,
                 first_end < rows.end ? Panel::kept : Panel::used_once,
                 panels + (j - cols.begin) * blocks.KC);
    }
    for (std::int64_t i = first_end; i < rows.end; i += blocks.MR) {
      row_of_tiles(slab, i, std::min(blocks.MR, rows.end - i), cols, panels);
    }
  }

  /// Likewise if registers hold few rows: a panel of B stays in L1, and panels of A come from L2.
  template <class T>
  static void blocks_of_rows(const Slab<T>& slab, Range rows, Range cols, T* panels) {
    const PanelBlocks& blocks = slab.blocks;
    const std::int64_t panel = blocks.panel_cols > blocks.NR ? blocks.KC : 0;  // per column
    for (std::int64_t i = rows.begin; i < rows.end; i += blocks.rows_in_l2) {
      const Range part = {i, std::min(i + blocks.rows_in_l2, rows.end)};
      if (blocks.packs_a_late) slab.pack_late(part);
      const Panel use = i > rows.begin        ? Panel::filled
                        : part.end < rows.end ? Panel::kept
                                              : Panel::used_once;
      for (std::int64_t j = cols.begin; j < cols.end; j += blocks.NR) {
        first_rows(slab, part, j, std::min(blocks.NR, cols.end - j), use,
                   panels + (j - cols.begin) * panel);
      }
    }
  }

  /// A panel of B is used by these rows only, is kept for other rows, or has been filled by them.
  enum class Panel { used_once, kept, filled };

  /// Multiplies tiles by one panel of B. If rows of B are contiguous, the first tile reads them in
  /// place and stores a copy for the others. The first few tiles prefetch the next strip of B.
  template <class T>
  static void first_rows(const Slab<T>& slab, Range rows, std::int64_t j, std::int64_t cols,
                         Panel use, T* panel) {
    const auto& [g, kernels, blocks, packed_a, late_a, ks] = slab;
    const std::int64_t k = slab.k();
    const bool is_filled = use == Panel::filled;
    const bool in_place = !is_filled && slab.copies_b(cols);
    const std::int64_t width = slab.width(cols);
    if (!is_filled && !in_place) cpu::pack_panel(kernels, g.b, ks.begin, k, j, cols, width, panel);
    const bool only_one = rows.end - rows.begin <= blocks.MR;
    const bool fetches_b = j + cols < g.n && in_place;
    // If rows of C do not begin with a cache line, the strip to the left has loaded their first
    // line.
    const std::int64_t c_first = std::min(line<T> - 1, cols - 1);
    const std::int64_t c_last = cols - 1 - c_first;
    const std::int64_t lines = ceil_div(blocks.NR, line<T>);
    const std::int64_t tiles = ceil_div(rows.end - rows.begin, blocks.MR);
    const std::int64_t pace = blocks.few_rows ? cpu::pace_of(tiles / lines) : 1;
    for (std::int64_t i = rows.begin; i < rows.end; i += blocks.MR) {
      const std::int64_t tile_rows = std::min(blocks.MR, rows.end - i);
      const bool reads_b = in_place && i == rows.begin;
      const std::int64_t index = (i - rows.begin) / blocks.MR;
      cpu::MaskedTile<T> tile = slab.tile(slab.a(i, index), i, j, cols);
      tile.b = reads_b ? &g.b(ks.begin, j) : panel;
      tile.b_k = reads_b ? g.b.row_stride : width;
      tile.copy = reads_b && (!only_one || use == Panel::kept) ? panel : nullptr;
      tile.streams_b = !reads_b && blocks.vectors > 2;  // larger than L1
      const bool fetches_next = fetches_b && index < lines * pace;
      if (fetches_next) {
        cpu::fetch_strip(tile, &g.b(ks.begin, j + cols), g.b.row_stride, index, lines, pace);
      } else if (!blocks.few_rows || tile.copy != nullptr) {
        const std::int64_t steps = std::min(k, 2 * tile_rows);
        tile.fetch(tile.c + c_first, tile.ldc, c_last, tile.copy != nullptr ? k : steps);
      }
      if (blocks.few_rows) {
        cpu::prefetch_rows(tile.c + c_first, tile.ldc, tile_rows);
      } else if (fetches_next || blocks.vectors > 2) {
        cpu::prefetch_c(tile.c, tile.ldc, tile_rows, cols - 1);
      }
      kernels.tile(tile_rows, cols)(tile);
    }
  }

  /// Multiplies a few rows by panels that are filled already. Each tile prefetches a part of the
  /// next panel of A.
  template <class T>
  static void row_of_tiles(const Slab<T>& slab, std::int64_t i, std::int64_t rows, Range cols,
                           T* panels) {
    const PanelBlocks& blocks = slab.blocks;
    if (blocks.packs_a_late) slab.pack_late({i, i + rows});
    const T* const a = slab.a(i, 0);
    const std::int64_t next = i + blocks.MR;
    const bool fetches_a = next < slab.g.m && (blocks.packs_a || slab.g.a.col_stride == 1);
    // Two cache lines of each row, or of a packed panel.
    const std::int64_t part = blocks.packs_a ? ceil_div(blocks.width_a * slab.k(),
                                                        ceil_div(cols.end - cols.begin, blocks.NR))
                                             : 2 * line<T>;
    std::int64_t fetched = 0;
    for (std::int64_t j = cols.begin, count; j < cols.end; j += count, fetched += part) {
      count = blocks.strip_cols(cols.end - j, slab.kernels.lanes);
      cpu::MaskedTile<T> tile = slab.tile(a, i, j, count);
      tile.b = panels + (j - cols.begin) * blocks.KC;
      tile.b_k = slab.width(count);
      tile.streams_b = true;
      if (fetches_a && blocks.packs_a) {
        tile.fetch(slab.a(next, 0) + fetched, 2 * line<T>, line<T>,
                   std::min(slab.k(), part / line<T>));
      } else if (fetches_a && fetched < slab.k()) {
        tile.fetch(&slab.g.a(next, slab.ks.begin + fetched), slab.g.a.row_stride, line<T>,
                   std::min(slab.k(), 2 * std::min(blocks.MR, slab.g.m - next)));
      }
      cpu::prefetch_c(tile.c, tile.ldc, rows, count - 1);
      slab.kernels.tile(rows, count)(tile);
    }
  }
};

}  // namespace

extern const cpu::GemmRung gemm_cpu_just_in_time = cpu::gemm_rung<JustInTime>();

}  // namespace rung
