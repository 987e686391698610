#pragma once
// Sizes and packing of panels of A and B for micro-kernels that read in place. A panel of A stays
// in L1 while panels of B stream from L2.

#include <algorithm>
#include <cstdint>

#include "core/problem.hpp"
#include "device/cpu/integers.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/masked_kernels.hpp"
#include "device/cpu/micro_kernels.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/partition.hpp"

namespace rung::cpu {

// Strips of B are wider than two vectors if A has at least this many rows and k spans at least this
// many bytes.
inline constexpr std::int64_t least_rows_of_wide_strips = 128, least_k_bytes_of_wide_strips = 2048;

/// The width of a strip of B in vectors. Tiles of three vectors by eight rows, or four by six, take
/// fewer loads per FMA than two by fourteen, and leave registers for the next tile while their sums
/// are stored. With a short k or few rows, this gain does not offset the fixed costs of a tile and
/// a copy of B.
template <class T>
std::int64_t strip_vectors(const MaskedKernels<T>& kernels, const Gemm<T, T>& g) {
  const std::int64_t count = ceil_div(g.n, kernels.lanes);
  const bool is_small = g.k * std::int64_t{sizeof(T)} < least_k_bytes_of_wide_strips ||
                        g.m < least_rows_of_wide_strips;
  if (kernels.triple_rows == 0 || is_small || count <= 2) return 2;
  return count == 4 || count == 8 ? 4 : 3;
}

/// The sizes of tiles, panels and blocks of C for a product on `threads` threads, in rows, columns
/// and k-steps. T is float or double.
struct PanelBlocks {
  // An L1 of 48 KiB holds a panel of A while panels of B stream. A smaller L1 does not; then each
  // strip of B is finished before the next one.
  static constexpr std::int64_t l1_for_a = 48 << 10;
  // C is read and written once per KC, so a short KC costs memory traffic.
  static constexpr std::int64_t max_panel_bytes = 28 << 10;  // panel of A, for strips of two
                                                             // vectors
  static constexpr std::int64_t max_row_bytes = 3072;        // row of A, for wider strips
  static constexpr std::int64_t one_tile_KC_bytes = 1024;    // for B in place
  // Packing A pays off from this number of columns on if the rows of a tile do not fit in L1 or A
  // is column-major. From the second number on, it pays off for panels that are one vector wide.
  static constexpr std::int64_t columns_of_packed_a = 1536, columns_of_narrow_panels = 96;
  // The threshold with few registers: panels of A then come from L2, and A in place is read in as
  // many streams as a tile has rows.
  static constexpr std::int64_t bytes_of_columns_of_packed_a = 4096;
  static constexpr std::int64_t kept_bytes_of_b = 2 << 20;  // part of L3

  bool few_rows;         // MaskedKernels::has_few_rows()
  std::int64_t vectors;  // width of a strip
  std::int64_t MR, NR;   // tile size
  std::int64_t width_a;  // rows of a packed panel of A: MR, rounded up to whole vectors
  std::int64_t KC, MC, NC;
  std::int64_t group;       // columns of B whose panels fit in L2 (or L3) together
  std::int64_t rows_in_l2;  // rows of A per KC that fit in L2, with few registers
  std::int64_t panel_cols;  // columns of B that a worker keeps: a group or a strip
  bool packs_a;             // pack all of A in advance
  // Each worker packs A just before its use: one panel at a time for the only group of strips, or
  // rows_in_l2 rows.
  bool packs_a_late;

  template <class T>
  PanelBlocks(const MaskedKernels<T>& kernels, const Gemm<T, T>& g, int threads) {
    constexpr std::int64_t size = sizeof(T);
    const Caches& caches = machine().caches;
    const bool holds_a = caches.l1 >= l1_for_a;
    const bool a_by_rows = g.a.col_stride == 1;
    few_rows = kernels.has_few_rows();
    const bool shares_sets = shares_a_set<T>(a_by_rows ? g.a.row_stride : g.a.col_stride);
    vectors = holds_a ? strip_vectors(kernels, g) : 2;
    std::int64_t columns = few_rows               ? bytes_of_columns_of_packed_a / size
                           : holds_a && a_by_rows ? g.n
                                                  : columns_of_packed_a;
    if (!a_by_rows && vectors > 2) {
      if (kernels.triple_rows == kernels.lanes) {
        columns = columns_of_narrow_panels;
      } else if (shares_sets || g.n > columns) {
        vectors = 2;  // a panel of few rows would be half empty
      }
    }
    NR = vectors * kernels.lanes;
    const std::int64_t max_rows = vectors == 2 ? kernels.MR : kernels.rows_in_strip[vectors - 1];
    const bool sets_hold_rows = a_by_rows && max_rows <= l1_ways;
    const bool conflicts = shares_sets && g.m > l1_ways && !sets_hold_rows;
    // A single strip of B reads A only once, so tiles with fewer rows are cheaper than packing.
    const bool avoids = conflicts && g.n <= NR && a_by_rows;
    MR = even_part(g.m, avoids ? std::min(l1_ways, max_rows) : max_rows, 1);
    width_a = round_up(MR, kernels.lanes);
    packs_a = (conflicts && !avoids) || (g.m > MR && g.n > columns);
    const std::int64_t panel_rows = packs_a ? round_up(max_rows, kernels.lanes) : max_rows;
    const std::int64_t row_bytes = vectors == 2 ? max_panel_bytes / panel_rows : max_row_bytes;
    KC = even_part(g.k, (g.m > MR ? row_bytes : one_tile_KC_bytes) / size, 8);
    if (few_rows) {
      width_a = MR;
      if (g.m > 8 * MR && g.n > 8 * NR)
        KC = even_part(g.k, caches.l1 * 3 / 4 / (std::max(NR, MR) * size), 8);
    }
    // Blocks of A leave room in L2 for C, the next panel of B, and other programs.
    const std::int64_t in_l2 = caches.l2 / (few_rows ? 4 : 2) / (KC * size);
    MC = holds_a || few_rows ? round_up(g.m, MR) : even_part(g.m, in_l2, MR);
    NC = round_up(g.n, NR);
    group = holds_a ? even_part(g.n, in_l2, NR) : NR;
    if (threads > 1) {
      const TileBlock block =
          balanced_block(ceil_div(g.m, MR), ceil_div(g.n, NR), MC / MR, threads,
                         few_rows && packs_a ? packed_row_overhead : row_overhead);
      MC = block.rows * MR;
      NC = block.cols * NR;
    }
    rows_in_l2 = few_rows ? even_part(MC, in_l2, MR) : MC;
    const bool keeps_b = !few_rows || MC > rows_in_l2;
    if (few_rows) group = keeps_b ? even_part(NC, kept_bytes_of_b / (KC * size), NR) : NC;
    panel_cols = keeps_b ? group : NR;
    if (few_rows && !conflicts && NC <= columns) packs_a = false;
    packs_a_late = packs_a && (few_rows || (holds_a && NC <= round_up(group, NR)));
    if (packs_a_late) packs_a = false;
  }

  /// The number of threads that get blocks of an m x n C.
  std::int64_t workers(std::int64_t m, std::int64_t n, int threads) const {
    return std::min<std::int64_t>(threads, ceil_div(m, MC) * ceil_div(n, NC));
  }
  /// The elements of a worker's panels: those of B, followed by those of A if it is packed late.
  std::int64_t of_worker() const {
    const std::int64_t late = few_rows ? rows_in_l2 / MR : vectors;
    return KC * (panel_cols + (packs_a_late ? late * width_a : 0));
  }
  /// The elements of all panels: those of the workers, followed by A if it is packed in advance.
  std::int64_t elements(std::int64_t m, std::int64_t n, int threads) const {
    const std::int64_t of_a = packs_a ? ceil_div(m, MR) * width_a * KC : 0;
    return workers(m, n, threads) * of_worker() + of_a;
  }

  /// The width of the next strip when `left` columns remain. Prefers two strips of two vectors to
  /// one of three and one of one.
  std::int64_t strip_cols(std::int64_t left, std::int64_t lanes) const {
    const bool leaves_one = vectors > 2 && left > NR && left <= NR + lanes;
    return leaves_one ? NR - lanes : std::min(left, NR);
  }
};

/// panel[i * width + c] = matrix(k0 + i, col + c) for i < k, c < cols.
template <class T>
void pack_panel(const MaskedKernels<T>& kernels, const Matrix<const T>& matrix, std::int64_t k0,
                std::int64_t k, std::int64_t col, std::int64_t cols, std::int64_t width, T* panel) {
  const T* const from = &matrix(k0, col);
  if (matrix.col_stride == 1) {
    micro_kernels<T>().pack_rows(k, from, matrix.row_stride, cols, width, panel);
  } else if (width % kernels.lanes != 0) {
    micro_kernels<T>().pack_columns(k, from, matrix.col_stride, cols, width, panel);
  } else {
    kernels.transpose(k, from, matrix.col_stride, cols, width, panel);
  }
}

/// Packs all panels of A for k-steps [k0, k0 + k), one after the other.
template <class T>
void pack_panels_of_a(const MaskedKernels<T>& kernels, const Gemm<T, T>& g,
                      const PanelBlocks& blocks, std::int64_t k0, std::int64_t k, T* packed,
                      int threads) {
  parallel_for(ceil_div(g.m, blocks.MR), threads, [&](std::int64_t panel) {
    const std::int64_t i = panel * blocks.MR;
    pack_panel(kernels, g.a.transposed(), k0, k, i, std::min(blocks.MR, g.m - i), blocks.width_a,
               packed + panel * blocks.width_a * k);
  });
}

struct Range {
  std::int64_t begin, end;
};

/// A part of k of the product.
template <class T>
struct Slab {
  const Gemm<T, T>& g;
  const MaskedKernels<T>& kernels;
  const PanelBlocks& blocks;
  const T* packed_a;
  T* late_a;  // room for the panels of the first tiles
  Range ks;

  std::int64_t k() const { return ks.end - ks.begin; }
  bool copies_b(std::int64_t cols) const {
    return g.b.col_stride == 1 && (kernels.masks_b || cols == kernels.width(cols));
  }
  /// The row length of a panel of B with `cols` columns.
  std::int64_t width(std::int64_t cols) const {
    return copies_b(cols) ? kernels.width(cols) : round_up(cols, kernels.lanes);
  }
  T* late_panel(std::int64_t index) const { return late_a + index * blocks.width_a * k(); }
  void pack_late(Range rows) const {
    for (std::int64_t i = rows.begin; i < rows.end; i += blocks.MR) {
      pack_panel(kernels, g.a.transposed(), ks.begin, k(), i, std::min(blocks.MR, rows.end - i),
                 blocks.width_a, late_panel((i - rows.begin) / blocks.MR));
    }
  }
  /// The address of the panel for row i. `late`: its index if it is packed late.
  const T* a(std::int64_t i, std::int64_t late) const {
    if (blocks.packs_a) return packed_a + i / blocks.MR * blocks.width_a * k();
    return blocks.packs_a_late ? late_panel(late) : &g.a(i, ks.begin);
  }
  /// The tile at (i, j) with a panel of A from a(). Does not set B.
  MaskedTile<T> tile(const T* a, std::int64_t i, std::int64_t j, std::int64_t cols) const {
    const bool packed = blocks.packs_a || blocks.packs_a_late;
    const std::int64_t a_row = packed ? 1 : g.a.row_stride;
    const std::int64_t a_k = packed ? blocks.width_a : g.a.col_stride;
    const T beta = ks.begin == 0 ? g.beta : T{1};
    return {k(), a, a_row, a_k, nullptr, 0, g.alpha, beta, &g.c(i, j), g.c.row_stride, cols};
  }
};

}  // namespace rung::cpu
