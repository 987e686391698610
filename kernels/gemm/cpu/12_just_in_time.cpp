// gemm/cpu/12_just_in_time: the first tile of a strip leaves a packed copy of B for the others,
//   behind its FMAs, and A is packed only where many columns use it.
// from: 06_cache_blocks | removes: packing as work of its own, during which nothing multiplies
//   | bottleneck: the rate of FMAs; for few rows or columns, that of memory
// needs: nothing; types other than f32 and f64 run 06 | try: rung bench gemm/cpu/06 gemm/cpu/12
//   --sizes 2048,64x2496x1088,3608x136x656

#include <algorithm>
#include <atomic>
#include <type_traits>

#include "device/cpu/integers.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/masked_kernels.hpp"
#include "device/cpu/micro_kernels.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/partition.hpp"
#include "device/cpu/rung.hpp"
#include "device/cpu/workspace.hpp"

namespace rung {

extern const cpu::GemmRung gemm_cpu_06_cache_blocks;

namespace {

using cpu::ceil_div;
using cpu::round_up;

// Rows of A that are a multiple of 4 KiB apart map to the same set of an L1 with 64 sets.
constexpr std::int64_t set_stride = 4096;
constexpr std::int64_t ways = 8;

// C is read and written once per KC, so a short KC costs traffic. A tile reads its panels of A and
// B from L2 in time.
constexpr std::int64_t max_KC_bytes = 2048;
constexpr std::int64_t one_tile_KC_bytes = 1024;  // for B in place
constexpr std::int64_t max_packed_bytes = 16 << 20;
// Packing A takes time, and then it is contiguous: that pays for so many columns.
constexpr std::int64_t columns_of_packed_a = 1536;
template <class T>
constexpr std::int64_t line = 64 / sizeof(T);  // elements per cache line

/// Splits `whole` into the fewest equal parts of at most `limit`; the part size is a multiple of
/// `unit`.
std::int64_t even_part(std::int64_t whole, std::int64_t limit, std::int64_t unit) {
  const std::int64_t parts = std::max<std::int64_t>(1, ceil_div(whole, std::max(limit, unit)));
  return std::max(round_up(ceil_div(whole, parts), unit), unit);
}

struct Blocks {
  std::int64_t MR, NR, width_a;
  std::int64_t KC, MC, NC;
  bool packs_a;

  template <class T>
  Blocks(const cpu::MaskedKernels<T>& kernels, const Gemm<T, T>& g, int threads) {
    constexpr std::int64_t size = sizeof(T);
    const cpu::Caches& caches = cpu::machine().caches;
    NR = 2 * kernels.lanes;
    const std::int64_t a_stride = g.a.col_stride == 1 ? g.a.row_stride : g.a.col_stride;
    const bool conflicts = a_stride * size % set_stride == 0 && g.m > ways;
    // One strip of B uses A once: fewer rows at a time are cheaper than a packed copy.
    const bool avoids = conflicts && g.n <= NR && g.a.col_stride == 1;
    MR = even_part(g.m, avoids ? std::min(ways, kernels.MR) : kernels.MR, 1);
    width_a = round_up(MR, kernels.lanes);
    KC = even_part(g.k, (g.m > MR ? max_KC_bytes : one_tile_KC_bytes) / size, 8);
    MC = even_part(g.m, caches.l2 / 2 / (KC * size), MR);
    packs_a = (conflicts && !avoids) || (g.m > MR && g.n > columns_of_packed_a);
    NC = round_up(g.n, NR);
    if (threads > 1) {
      const cpu::TileBlock block =
          cpu::balanced_block(ceil_div(g.m, MR), ceil_div(g.n, NR), MC / MR, threads);
      MC = block.rows * MR;
      NC = block.cols * NR;
    }
  }
};

struct JustInTime {
  template <class In, class Out>
  static void run(const Gemm<In, Out>& g, int threads) {
    if constexpr (std::is_same_v<In, Out> && std::is_floating_point_v<Out>) {
      if (g.m != 0 && g.n != 0) multiply_rows(g, threads);
    } else {
      gemm_cpu_06_cache_blocks.function<In, Out>()(g, threads);
    }
  }

  /// So many rows at a time that their packed A takes no more than that much memory.
  template <class T>
  static void multiply_rows(const Gemm<T, T>& g, int threads) {
    constexpr std::int64_t most = max_packed_bytes / max_KC_bytes;
    const std::int64_t rows = even_part(g.m, most, 1);
    for (std::int64_t i = 0; i < g.m; i += rows) {
      Gemm<T, T> part = g;
      part.m = std::min(rows, g.m - i);
      part.a.data = &g.a(i, 0);
      part.c.data = &g.c(i, 0);
      multiply(part, threads);
    }
  }

  // Panels of B, then the packed A, which all workers read: all memory is there before anything is
  // written to C. A worker has one panel, which it fills again for each block; a single one keeps
  // those of all columns, for the blocks of rows that follow.
  template <class T>
  static void multiply(const Gemm<T, T>& g, int threads) {
    const auto& kernels = cpu::masked_kernels<T>();
    const Blocks blocks(kernels, g, threads);
    const std::int64_t b_elements = blocks.KC * blocks.NR;
    const std::int64_t a_elements =
        blocks.packs_a ? ceil_div(g.m, blocks.MR) * blocks.width_a * blocks.KC : 0;
    const std::int64_t block_rows = ceil_div(g.m, blocks.MC);
    const std::int64_t block_count = block_rows * ceil_div(g.n, blocks.NC);
    const std::int64_t workers = std::min<std::int64_t>(threads, block_count);
    const std::int64_t strips = ceil_div(g.n, blocks.NR);
    const bool keeps = workers == 1 && block_rows > 1 &&
                       strips * b_elements * std::int64_t{sizeof(T)} <= max_packed_bytes;
    const std::int64_t panel_count = keeps ? strips : workers;
    T* const panels = cpu::scratch<T>(panel_count * b_elements + a_elements);
    T* const packed_a = panels + panel_count * b_elements;
    // k0 == 0 runs even if K is 0, to apply beta.
    for (std::int64_t k0 = 0; k0 == 0 || k0 < g.k; k0 += blocks.KC) {
      const std::int64_t k = std::min(blocks.KC, g.k - k0);
      if (blocks.packs_a) pack_a(g, kernels, blocks, k0, k, packed_a, threads);
      std::atomic<std::int64_t> next = 0;
      cpu::parallel_for(workers, threads, [&](std::int64_t worker) {
        for (std::int64_t block = next++; block < block_count; block = next++) {
          const std::int64_t i = block % block_rows * blocks.MC;
          const std::int64_t j = block / block_rows * blocks.NC;
          const Range rows = {i, std::min(i + blocks.MC, g.m)};
          const Range cols = {j, std::min(j + blocks.NC, g.n)};
          for (std::int64_t at = cols.begin; at < cols.end; at += blocks.NR) {
            const std::int64_t panel = keeps ? at / blocks.NR : worker;
            strip(g, kernels, blocks, packed_a, rows, at, std::min(blocks.NR, cols.end - at),
                  {k0, k0 + k}, {panels + panel * b_elements, keeps, keeps && i > 0});
          }
        }
      });
    }
  }

  template <class T>
  static void pack_a(const Gemm<T, T>& g, const cpu::MaskedKernels<T>& kernels,
                     const Blocks& blocks, std::int64_t k0, std::int64_t k, T* packed_a,
                     int threads) {
    cpu::parallel_for(ceil_div(g.m, blocks.MR), threads, [&](std::int64_t panel) {
      const std::int64_t i = panel * blocks.MR;
      pack(kernels, g.a.transposed(), k0, k, i, std::min(blocks.MR, g.m - i), blocks.width_a,
           packed_a + panel * blocks.width_a * k);
    });
  }

  /// panel[i * width + c] = matrix(k0 + i, col + c) for c < cols. width is in whole vectors.
  template <class T>
  static void pack(const cpu::MaskedKernels<T>& kernels, const Matrix<const T>& matrix,
                   std::int64_t k0, std::int64_t k, std::int64_t col, std::int64_t cols,
                   std::int64_t width, T* panel) {
    const T* const from = &matrix(k0, col);
    if (matrix.col_stride == 1) {
      cpu::micro_kernels<T>().pack_rows(k, from, matrix.row_stride, cols, width, panel);
    } else {
      kernels.transpose(k, from, matrix.col_stride, cols, width, panel);
    }
  }

  struct Range {
    std::int64_t begin, end;
  };

  template <class T>
  struct Panel {
    T* data;
    bool is_kept;   // other blocks of rows will use it
    bool is_ready;  // an earlier one has filled it; the next panel follows it
  };

  /// The product of a block of A with one panel of B. Where rows of B are contiguous, the first
  /// tile reads them in place and leaves a copy for the others, behind its FMAs. The first two
  /// fetch the next strip of B, the others their own tile of C.
  template <class T>
  static void strip(const Gemm<T, T>& g, const cpu::MaskedKernels<T>& kernels, const Blocks& blocks,
                    const T* packed_a, Range rows, std::int64_t j, std::int64_t cols, Range ks,
                    Panel<T> panel) {
    const std::int64_t k = ks.end - ks.begin;
    const bool by_copy = g.b.col_stride == 1 && (kernels.masks_b || cols == kernels.width(cols));
    const bool in_place = by_copy && !panel.is_ready;
    const std::int64_t width = by_copy ? kernels.width(cols) : round_up(cols, kernels.lanes);
    if (!by_copy && !panel.is_ready) pack(kernels, g.b, ks.begin, k, j, cols, width, panel.data);
    const bool only_one = rows.end - rows.begin <= blocks.MR;
    const bool fetches_b = j + blocks.NR < g.n && (in_place || panel.is_ready);
    const bool packed = blocks.packs_a;
    // Where rows of B do not begin with a line, this strip has already read the first of the next;
    // the same holds for C.
    constexpr std::int64_t last = line<T> - 1;
    const std::int64_t c_first = std::min(last, cols - 1);
    const std::int64_t c_last = cols - 1 - c_first;
    cpu::MaskedTile<T> tile = {};
    tile.k = k;
    tile.a_row = packed ? 1 : g.a.row_stride;
    tile.a_k = packed ? blocks.width_a : g.a.col_stride;
    tile.alpha = g.alpha;
    tile.beta = ks.begin == 0 ? g.beta : T{1};
    tile.ldc = g.c.row_stride;
    tile.cols = cols;
    for (std::int64_t i = rows.begin; i < rows.end; i += blocks.MR) {
      const std::int64_t tile_rows = std::min(blocks.MR, rows.end - i);
      const bool is_first = i == rows.begin;
      const bool reads_b = in_place && is_first;
      tile.a = packed ? packed_a + i / blocks.MR * blocks.width_a * k : &g.a(i, ks.begin);
      tile.b = reads_b ? &g.b(ks.begin, j) : panel.data;
      tile.b_k = reads_b ? g.b.row_stride : width;
      tile.copy = reads_b && (!only_one || panel.is_kept) ? panel.data : nullptr;
      tile.c = &g.c(i, j);
      tile.moves = 0;
      const std::int64_t half = (k + 1) / 2 * ((i - rows.begin) / blocks.MR);
      const bool fetches_half = fetches_b && half < k;
      if (fetches_half && in_place) {
        tile.fetch(&g.b(ks.begin + half, j + blocks.NR) + last, g.b.row_stride, line<T>, k);
      } else if (fetches_half) {
        tile.fetch(panel.data + blocks.KC * blocks.NR + half * blocks.NR, blocks.NR, line<T>, k);
      } else {
        const std::int64_t steps = std::min(k, 2 * tile_rows);
        tile.fetch(tile.c + c_first, tile.ldc, c_last, tile.copy != nullptr ? k : steps);
      }
      if (fetches_half) prefetch_c(tile.c + c_first, tile.ldc, tile_rows, c_last);
      kernels.tile(tile_rows, cols)(tile);
    }
  }

  // C is needed only after the loop over k, which hides the latency of loading it.
  template <class T>
  static void prefetch_c(const T* c, std::int64_t ldc, std::int64_t rows, std::int64_t last) {
    for (std::int64_t i = 0; i < rows; ++i) {
      __builtin_prefetch(c + i * ldc, 0, 2);
      __builtin_prefetch(c + i * ldc + last, 0, 2);
    }
  }
};

}  // namespace

extern const cpu::GemmRung gemm_cpu_12_just_in_time = cpu::gemm_rung<JustInTime>();

}  // namespace rung
