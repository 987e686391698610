// gemm/cpu/unpacked: read A in place and pack only the current panel of B: packing does not pay for
//   data that is used a few times or is in a cache already.
// from: cache_blocks | removes: most of the packing copies | bottleneck: rows of A that share cache
//   sets and pages, once A exceeds the L2 cache
// needs: nothing; 16-bit inputs must be widened, so they run cache_blocks | try: rung bench
//   gemm/cpu/cache_blocks gemm/cpu/unpacked --sizes 64,128,256,16x4096x4096

#include <algorithm>
#include <type_traits>

#include "device/cpu/integers.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/micro_kernels.hpp"
#include "device/cpu/pack.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/rung.hpp"

namespace rung {

extern const cpu::GemmRung gemm_cpu_cache_blocks;

namespace {

using cpu::ceil_div;
using cpu::round_up;

constexpr std::int64_t max_KC = 256;
constexpr std::int64_t max_MC = 280;
constexpr std::int64_t max_NR_bytes = 128;

// If B comes from memory, a few of its rows are read side by side over their whole length, no more
// streams than the hardware prefetchers follow. With few rows of A, eight streams are best; with
// more rows, a longer k-block pays off, because C stays in registers for longer.
constexpr std::int64_t min_stream_KC = 8;
constexpr std::int64_t max_stream_KC = 24;
constexpr std::int64_t stream_NC = 1024;

// Rows of A that are a multiple of 4 KiB apart map to the same set of an L1 with 64 sets, so they
// compete for its ways with each other and with B.
constexpr std::int64_t set_stride = 4096;
constexpr std::int64_t ways = 8;

struct Blocks {
  std::int64_t MR, MC, NC, KC;
  bool stream_b;

  template <class In, class Out>
  Blocks(const cpu::MicroKernels<Out>& kernels, const Gemm<In, Out>& g, int threads) {
    constexpr std::int64_t size = sizeof(In);
    const bool one_set = g.a.col_stride == 1 && g.a.row_stride * size % set_stride == 0;
    const std::int64_t max_MR = one_set ? std::min(kernels.MR, ways) : kernels.MR;
    MR = ceil_div(g.m, ceil_div(g.m, max_MR));  // 16 rows: 8 + 8, not 14 + 2
    const std::int64_t b_bytes = size * g.k * g.n;
    stream_b = g.m <= 4 * kernels.MR && b_bytes > cpu::machine().caches.l2;
    const std::int64_t stream_KC = std::clamp(2 * g.m, min_stream_KC, max_stream_KC);
    KC = std::clamp<std::int64_t>(g.k, 1, stream_b ? stream_KC : max_KC);

    // Blocks of C: few and wide ones first, then also split along the rows.
    const std::int64_t wanted = threads == 1 ? 1 : 4 * threads;
    NC = round_up(std::max(ceil_div(g.n, wanted), stream_b ? stream_NC : kernels.NR), kernels.NR);
    const std::int64_t wanted_rows = ceil_div(wanted, ceil_div(g.n, NC));
    MC = round_up(std::min(ceil_div(g.m, wanted_rows), max_MC), MR);
  }
};

struct Direct {
  template <class In, class Out>
  static void run(const Gemm<In, Out>& g, int threads) {
    if constexpr (!std::is_same_v<In, Out>) {
      return gemm_cpu_cache_blocks.function<In, Out>()(g, threads);
    } else {
      if (g.m == 0 || g.n == 0) return;
      const auto& kernels = cpu::micro_kernels<Out>();
      const Blocks blocks(kernels, g, threads);
      const std::int64_t block_cols = ceil_div(g.n, blocks.NC);
      cpu::parallel_for(ceil_div(g.m, blocks.MC) * block_cols, threads, [&](std::int64_t block) {
        const std::int64_t i0 = block / block_cols * blocks.MC;
        const std::int64_t j0 = block % block_cols * blocks.NC;
        multiply(g, kernels, blocks, i0, std::min(i0 + blocks.MC, g.m), j0,
                 std::min(j0 + blocks.NC, g.n));
      });
    }
  }

  template <class T>
  static void multiply(const Gemm<T, T>& g, const cpu::MicroKernels<T>& kernels,
                       const Blocks& blocks, std::int64_t i0, std::int64_t i1, std::int64_t j0,
                       std::int64_t j1) {
    alignas(64) T panel[max_KC * max_NR_bytes / sizeof(T)];
    for (std::int64_t k0 = 0; k0 == 0 || k0 < g.k; k0 += blocks.KC) {
      const std::int64_t k = std::min(blocks.KC, g.k - k0);
      const T beta = k0 == 0 ? g.beta : T{1};
      for (std::int64_t j = j0; j < j1; j += kernels.NR) {
        const std::int64_t cols = std::min(kernels.NR, j1 - j);
        const Matrix<const T> b = panel_of_b(g, kernels, blocks, k0, k, j, cols, panel);
        for (std::int64_t i = i0; i < i1; i += blocks.MR) {
          const std::int64_t rows = std::min(blocks.MR, i1 - i);
          const bool row_major = g.a.col_stride == 1;
          const auto tile =
              row_major ? kernels.direct_tile(rows, cols) : kernels.packed_tile(rows, cols);
          tile({k, &g.a(i, k0), row_major ? g.a.row_stride : g.a.col_stride, b.data, b.row_stride,
                g.alpha, beta, &g.c(i, j), g.c.row_stride, cols,
                blocks.stream_b ? 2 * kernels.NR : 0});
        }
      }
    }
  }

  // Returns B in place if its rows are contiguous over the full width of a tile and the panel is
  // used only a few times; otherwise packs it.
  template <class T>
  static Matrix<const T> panel_of_b(const Gemm<T, T>& g, const cpu::MicroKernels<T>& kernels,
                                    const Blocks& blocks, std::int64_t k0, std::int64_t k,
                                    std::int64_t j, std::int64_t cols, T* panel) {
    const bool readable = g.b.col_stride == 1 && cols % kernels.lanes == 0;
    if (readable && g.m <= 8 * blocks.MR) return {&g.b(k0, j), g.b.row_stride, 1};
    cpu::pack_panel(kernels, g.b, k0, k, j, cols, kernels.NR, panel);
    return {panel, kernels.NR, 1};
  }
};

}  // namespace

extern const cpu::GemmRung gemm_cpu_unpacked = cpu::gemm_rung<Direct>();

}  // namespace rung
