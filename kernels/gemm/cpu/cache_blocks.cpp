// gemm/cpu/cache_blocks: the library's packed kernel: each block has the size of the cache that
//   holds it, A and B are packed once for all threads, and C is divided into a grid of tiles for
//   the threads, for all element types.
// from: 06_cache_blocks | removes: the widening of 16-bit elements in the inner loop, and block
//   sizes that do not adapt to the number of threads | bottleneck: the packing copies, which small
//   and skinny products do not amortize
// needs: nothing; SIMD by Highway, dispatched at run time | try: rung bench gemm/cpu/06
//   gemm/cpu/cache_blocks

#include <algorithm>
#include <new>

#include "device/cpu/integers.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/micro_kernels.hpp"
#include "device/cpu/pack.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/rung.hpp"
#include "device/cpu/workspace.hpp"

namespace rung {
namespace {

using cpu::ceil_div;
using cpu::even_part;
using cpu::round_up;

// The loops from the innermost outwards: the micro-kernel runs over KC; j runs over NC, with the
// panel of A (MR x KC) in L1 as far as it fits; i runs over MC, with the block of B (KC x NC) in a
// quarter of L2. The packed operands, KC x (rows + cols), come from L3 or memory.
// After Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (ACM TOMS 34(3),
// 2008), and Low et al., "Analytical Modeling Is Enough for High-Performance BLIS" (ACM TOMS 43(2),
// 2016). They keep A in L2 and B in L1; here NR = 2 * lanes > MR, so the panel of A is the smaller.
struct Blocks {
  // C is read and written once per KC, so a short KC costs traffic. The part of A's panel that does
  // not fit in L1 comes from L2 in time.
  static constexpr std::int64_t max_KC = 512;

  std::int64_t KC, MC, NC;
  std::int64_t rows, cols;

  template <class Out>
  Blocks(const cpu::MicroKernels<Out>& kernels, std::int64_t m, std::int64_t n, std::int64_t k,
         int threads) {
    constexpr std::int64_t size = sizeof(Out);
    constexpr std::int64_t packed_bytes = 16 << 20;  // each of A and B
    const cpu::Caches& caches = cpu::machine().caches;

    KC = even_part(k, max_KC, 8);
    rows = even_part(m, packed_bytes / (KC * size), kernels.MR);
    cols = even_part(n, packed_bytes / (KC * size), kernels.NR);
    NC = even_part(cols, caches.l2 / 4 / (KC * size), kernels.NR);

    // Eight tiles per thread balance the load when other work delays one of the threads.
    const std::int64_t tiles = threads == 1 ? 1 : 8 * threads;
    MC = even_part(rows, ceil_div(rows, ceil_div(tiles, ceil_div(cols, NC))), kernels.MR);
  }

  /// Elements of the packed operands.
  template <class Out>
  std::int64_t elements() const {
    return (rows + cols) * KC + cpu::line<Out>;
  }
};

/// Memory for the packed operands. If it cannot be allocated, uses the memory that this thread has
/// reserved, which holds one tile at a time; sums keep their order.
template <class Out>
Out* packed_memory(const cpu::MicroKernels<Out>& kernels, Blocks& blocks) {
  try {
    return cpu::scratch<Out>(blocks.elements<Out>());
  } catch (const std::bad_alloc&) {
    blocks.rows = blocks.MC = kernels.MR;
    blocks.cols = blocks.NC = kernels.NR;
    const auto bytes = static_cast<std::size_t>(blocks.elements<Out>()) * sizeof(Out);
    return static_cast<Out*>(cpu::last_resort(bytes));
  }
}

// Prefetch distance of the panel of B, which comes from L2: one row of it feeds MR multiply-adds.
constexpr std::int64_t rows_ahead = 16;

struct CacheBlocks {
  template <class In, class Out>
  static void run(const Gemm<In, Out>& g, int threads) {
    const auto& kernels = cpu::micro_kernels<Out>();
    Blocks blocks(kernels, g.m, g.n, g.k, threads);
    Out* const packed_a = packed_memory(kernels, blocks);
    Out* const packed_b = packed_a + round_up(blocks.rows * blocks.KC, cpu::line<Out>);

    for (std::int64_t j0 = 0; j0 < g.n; j0 += blocks.cols) {
      for (std::int64_t i0 = 0; i0 < g.m; i0 += blocks.rows) {
        const std::int64_t m = std::min(blocks.rows, g.m - i0);
        const std::int64_t n = std::min(blocks.cols, g.n - j0);
        // k0 == 0 runs even if K is 0, to apply beta.
        for (std::int64_t k0 = 0; k0 == 0 || k0 < g.k; k0 += blocks.KC) {
          const std::int64_t k = std::min(blocks.KC, g.k - k0);
          pack(g, kernels, {i0, j0, k0}, {m, n, k}, packed_a, packed_b, threads);
          multiply(g, kernels, blocks, {i0, j0, k0}, {m, n, k}, packed_a, packed_b, threads);
        }
      }
    }
  }

  struct Index {
    std::int64_t i, j, k;
  };
  struct Extent {
    std::int64_t m, n, k;
  };

  // Packs A into panels of MR rows and B into panels of NR columns; k runs along the panel.
  template <class In, class Out>
  static void pack(const Gemm<In, Out>& g, const cpu::MicroKernels<Out>& kernels, Index at,
                   Extent of, Out* packed_a, Out* packed_b, int threads) {
    const std::int64_t MR = kernels.MR;
    const std::int64_t NR = kernels.NR;
    const std::int64_t a_panels = ceil_div(of.m, MR);
    const std::int64_t b_panels = ceil_div(of.n, NR);
    cpu::parallel_for(a_panels + b_panels, threads, [&](std::int64_t panel) {
      if (panel < a_panels) {
        const std::int64_t i = panel * MR;
        cpu::pack_panel(kernels, g.a.transposed(), at.k, of.k, at.i + i, std::min(MR, of.m - i), MR,
                        packed_a + i * of.k);
      } else {
        const std::int64_t j = (panel - a_panels) * NR;
        cpu::pack_panel(kernels, g.b, at.k, of.k, at.j + j, std::min(NR, of.n - j), NR,
                        packed_b + j * of.k);
      }
    });
  }

  template <class In, class Out>
  static void multiply(const Gemm<In, Out>& g, const cpu::MicroKernels<Out>& kernels,
                       const Blocks& blocks, Index at, Extent of, const Out* packed_a,
                       const Out* packed_b, int threads) {
    const std::int64_t MR = kernels.MR;
    const std::int64_t NR = kernels.NR;
    const Out beta = at.k == 0 ? g.beta : Out{1};
    const std::int64_t block_rows = ceil_div(of.m, blocks.MC);
    const std::int64_t block_cols = ceil_div(of.n, blocks.NC);
    // Column by column, so that threads work on the same block of B.
    cpu::parallel_for(block_rows * block_cols, threads, [&](std::int64_t block) {
      const std::int64_t block_i = block % block_rows * blocks.MC;
      const std::int64_t block_j = block / block_rows * blocks.NC;
      for (std::int64_t i = block_i; i < std::min(of.m, block_i + blocks.MC); i += MR) {
        for (std::int64_t j = block_j; j < std::min(of.n, block_j + blocks.NC); j += NR) {
          const std::int64_t cols = std::min(NR, of.n - j);
          kernels.packed_tile(std::min(MR, of.m - i), cols)(
              {of.k, packed_a + i * of.k, MR, packed_b + j * of.k, NR, g.alpha, beta,
               &g.c(at.i + i, at.j + j), g.c.row_stride, cols, rows_ahead * NR});
        }
      }
    });
  }
};

}  // namespace

extern const cpu::GemmRung gemm_cpu_cache_blocks = cpu::gemm_rung<CacheBlocks>();

}  // namespace rung
