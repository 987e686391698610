// gemm/cpu/02_blocked: tile the loops and move the loop over k-tiles outwards, so that one tile of
//   B serves many rows.
// from: 01_loop_order | removes: streaming all of B from memory for each row of C | bottleneck: a
//   single core, and one row of the C tile is reloaded for each k
// needs: nothing | try: rung bench gemm/cpu/01 gemm/cpu/02 --sizes 2048

#include <algorithm>

#include "device/cpu/rung.hpp"

namespace rung {
namespace {

// A KC x NC tile of B is 32 KiB in f32: it stays in the L1 cache while MC rows use it. It is wide
// rather than square, because a long innermost loop (along NC) is faster.
constexpr std::int64_t MC = 128;
constexpr std::int64_t NC = 512;
constexpr std::int64_t KC = 16;

struct Blocked {
  template <class In, class Out>
  static void run(const Gemm<In, Out>& g, int /*threads*/) {
    for (std::int64_t i0 = 0; i0 < g.m; i0 += MC) {
      for (std::int64_t j0 = 0; j0 < g.n; j0 += NC) {
        const std::int64_t i1 = std::min(i0 + MC, g.m);
        const std::int64_t j1 = std::min(j0 + NC, g.n);
        scale(g, i0, i1, j0, j1);
        for (std::int64_t k0 = 0; k0 < g.k; k0 += KC) {
          multiply(g, i0, i1, j0, j1, k0, std::min(k0 + KC, g.k));
        }
      }
    }
  }

  template <class In, class Out>
  static void scale(const Gemm<In, Out>& g, std::int64_t i0, std::int64_t i1, std::int64_t j0,
                    std::int64_t j1) {
    for (std::int64_t i = i0; i < i1; ++i) {
      for (std::int64_t j = j0; j < j1; ++j) {
        g.c(i, j) = g.beta == Out{} ? Out{} : g.beta * g.c(i, j);
      }
    }
  }

  template <class In, class Out>
  static void multiply(const Gemm<In, Out>& g, std::int64_t i0, std::int64_t i1, std::int64_t j0,
                       std::int64_t j1, std::int64_t k0, std::int64_t k1) {
    for (std::int64_t i = i0; i < i1; ++i) {
      for (std::int64_t k = k0; k < k1; ++k) {
        const Out a = g.alpha * static_cast<Out>(g.a(i, k));
        for (std::int64_t j = j0; j < j1; ++j) {
          g.c(i, j) += a * static_cast<Out>(g.b(k, j));
        }
      }
    }
  }
};

}  // namespace

extern const cpu::GemmRung gemm_cpu_02_blocked = cpu::gemm_rung<Blocked>();

}  // namespace rung
