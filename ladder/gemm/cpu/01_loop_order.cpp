// gemm/cpu/01_loop_order: loop order does not change the sum, so make j, which runs along the rows
//   of B and C, the innermost loop.
// from: 00_triple_loop | removes: the strided walk down the columns of B | bottleneck: all of B
//   streams through the caches once for each row of C
// needs: nothing | try: rung bench gemm/cpu/00 gemm/cpu/01

#include "device/cpu/rung.hpp"

namespace rung {
namespace {

struct LoopOrder {
  template <class In, class Out>
  static void run(const Gemm<In, Out>& g, int /*threads*/) {
    for (std::int64_t i = 0; i < g.m; ++i) {
      for (std::int64_t j = 0; j < g.n; ++j) {
        g.c(i, j) = g.beta == Out{} ? Out{} : g.beta * g.c(i, j);
      }
      for (std::int64_t k = 0; k < g.k; ++k) {
        const Out a = g.alpha * static_cast<Out>(g.a(i, k));
        for (std::int64_t j = 0; j < g.n; ++j) {
          g.c(i, j) += a * static_cast<Out>(g.b(k, j));
        }
      }
    }
  }
};

}  // namespace

extern const cpu::GemmRung gemm_cpu_01_loop_order = cpu::gemm_rung<LoopOrder>();

}  // namespace rung
