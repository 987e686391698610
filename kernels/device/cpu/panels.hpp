#pragma once
// Panels of A and B for micro-kernels that read in place: their sizes, such that a panel of A stays
// in L1 while panels of B pass by from L2, and how one is packed.

#include <algorithm>
#include <cstdint>

#include "device/cpu/integers.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/masked_kernels.hpp"
#include "device/cpu/micro_kernels.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/partition.hpp"
#include "device/cpu/rung.hpp"

namespace rung::cpu {

/// The sizes of tiles, panels and blocks of C for a product on `threads` threads, in rows, columns
/// and steps of k. T is float or double.
struct PanelBlocks {
  // C is read and written once per KC, so a short KC costs traffic. A panel of A stays in an L1 of
  // 48 KiB while panels of B pass by; a smaller L1 holds neither, and then a strip of B is finished
  // before the next one.
  static constexpr std::int64_t max_panel_bytes = 28 << 10;  // of A
  static constexpr std::int64_t l1_for_a = 48 << 10;
  static constexpr std::int64_t one_tile_KC_bytes = 1024;  // for B in place
  // From this number of columns on, a contiguous A is worth the time that packing takes.
  static constexpr std::int64_t columns_of_packed_a = 1536;

  std::int64_t MR, NR;   // of a tile
  std::int64_t width_a;  // of a packed panel of A: MR in whole vectors
  std::int64_t KC, MC, NC;
  std::int64_t group;  // columns of B whose panels are in L2 together
  bool packs_a;        // all of it, ahead
  bool packs_a_late;   // a panel at a time, for the only group of strips that uses it

  template <class T>
  PanelBlocks(const MaskedKernels<T>& kernels, const Gemm<T, T>& g, int threads) {
    constexpr std::int64_t size = sizeof(T);
    const Caches& caches = machine().caches;
    NR = 2 * kernels.lanes;
    const std::int64_t a_stride = g.a.col_stride == 1 ? g.a.row_stride : g.a.col_stride;
    const bool conflicts = shares_a_set<T>(a_stride) && g.m > l1_ways;
    // One strip of B uses A once: fewer rows at a time are cheaper than a packed copy.
    const bool avoids = conflicts && g.n <= NR && g.a.col_stride == 1;
    MR = even_part(g.m, avoids ? std::min(l1_ways, kernels.MR) : kernels.MR, 1);
    width_a = round_up(MR, kernels.lanes);
    packs_a = (conflicts && !avoids) || (g.m > MR && g.n > columns_of_packed_a);
    const std::int64_t panel_rows = packs_a ? round_up(kernels.MR, kernels.lanes) : kernels.MR;
    KC = even_part(g.k, (g.m > MR ? max_panel_bytes / panel_rows : one_tile_KC_bytes) / size, 8);
    MC = even_part(g.m, caches.l2 / 2 / (KC * size), MR);
    NC = round_up(g.n, NR);
    const bool holds_a = caches.l1 >= l1_for_a;
    group = holds_a ? even_part(g.n, caches.l2 / 2 / (KC * size), NR) : NR;
    if (threads > 1) {
      const TileBlock block =
          balanced_block(ceil_div(g.m, MR), ceil_div(g.n, NR), MC / MR, threads);
      MC = block.rows * MR;
      NC = block.cols * NR;
    } else if (holds_a) {
      MC = round_up(g.m, MR);
    }
    packs_a_late = packs_a && holds_a && NC <= round_up(group, NR);
    if (packs_a_late) packs_a = false;
  }
};

/// panel[i * width + c] = matrix(k0 + i, col + c) for i < k, c < cols. width is in whole vectors.
template <class T>
void pack_panel(const MaskedKernels<T>& kernels, const Matrix<const T>& matrix, std::int64_t k0,
                std::int64_t k, std::int64_t col, std::int64_t cols, std::int64_t width, T* panel) {
  const T* const from = &matrix(k0, col);
  if (matrix.col_stride == 1) {
    micro_kernels<T>().pack_rows(k, from, matrix.row_stride, cols, width, panel);
  } else {
    kernels.transpose(k, from, matrix.col_stride, cols, width, panel);
  }
}

/// All panels of A for k0 … k0 + k, one after the other.
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

}  // namespace rung::cpu
