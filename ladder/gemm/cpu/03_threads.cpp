// gemm/cpu/03_threads: tiles of C are independent, so threads take them one by one.
// from: 02_blocked | removes: the limit of a single core | bottleneck: strided tiles of A and B,
//   spread over many pages and cache sets
// needs: nothing | try: rung bench gemm/cpu/02 gemm/cpu/03 --threads 2

#include <algorithm>

#include "device/cpu/parallel.hpp"
#include "device/cpu/rung.hpp"

namespace rung {
namespace {

constexpr std::int64_t MC = 128;
constexpr std::int64_t NC = 512;
constexpr std::int64_t KC = 16;

struct Threads {
  template <class In, class Out>
  static void run(const Gemm<In, Out>& g, int threads) {
    const std::int64_t block_rows = (g.m + MC - 1) / MC;
    const std::int64_t block_cols = (g.n + NC - 1) / NC;
    cpu::parallel_for(block_rows * block_cols, threads, [&](std::int64_t block) {
      const std::int64_t i0 = block / block_cols * MC;
      const std::int64_t j0 = block % block_cols * NC;
      multiply(g, i0, std::min(i0 + MC, g.m), j0, std::min(j0 + NC, g.n));
    });
  }

  template <class In, class Out>
  static void multiply(const Gemm<In, Out>& g, std::int64_t i0, std::int64_t i1, std::int64_t j0,
                       std::int64_t j1) {
    for (std::int64_t i = i0; i < i1; ++i) {
      for (std::int64_t j = j0; j < j1; ++j) {
        g.c(i, j) = g.beta == Out{} ? Out{} : g.beta * g.c(i, j);
      }
    }
    for (std::int64_t k0 = 0; k0 < g.k; k0 += KC) {
      const std::int64_t k1 = std::min(k0 + KC, g.k);
      for (std::int64_t i = i0; i < i1; ++i) {
        for (std::int64_t k = k0; k < k1; ++k) {
          const Out a = g.alpha * static_cast<Out>(g.a(i, k));
          for (std::int64_t j = j0; j < j1; ++j) {
            g.c(i, j) += a * static_cast<Out>(g.b(k, j));
          }
        }
      }
    }
  }
};

}  // namespace

extern const cpu::GemmRung gemm_cpu_03_threads = cpu::gemm_rung<Threads>();

}  // namespace rung
