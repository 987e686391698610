// gemm/cpu/00_triple_loop: each element of C is the dot product of a row of A and a column of B.
// from: nothing | removes: nothing | bottleneck: the inner loop strides down a column of B,
//   touching a new cache line for each k
// needs: nothing | try: rung bench gemm/cpu/00

#include "device/cpu/rung.hpp"

namespace rung {
namespace {

struct TripleLoop {
  template <class In, class Out>
  static void run(const Gemm<In, Out>& g, int /*threads*/) {
    for (std::int64_t i = 0; i < g.m; ++i) {
      for (std::int64_t j = 0; j < g.n; ++j) {
        Out sum{};
        for (std::int64_t k = 0; k < g.k; ++k) {
          sum += static_cast<Out>(g.a(i, k)) * static_cast<Out>(g.b(k, j));
        }
        Out& c = g.c(i, j);
        c = g.beta == Out{} ? g.alpha * sum : g.alpha * sum + g.beta * c;
      }
    }
  }
};

}  // namespace

extern const cpu::GemmRung gemm_cpu_00_triple_loop = cpu::gemm_rung<TripleLoop>();

}  // namespace rung
