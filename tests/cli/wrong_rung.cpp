// In the place of the first gemm rung, one that forgets the last k: it must be caught.

#include "device/cpu/rung.hpp"

namespace rung {
namespace {

struct ForgetsLastK {
  template <class In, class Out>
  static void run(const Gemm<In, Out>& g, int /*threads*/) {
    for (std::int64_t i = 0; i < g.m; ++i) {
      for (std::int64_t j = 0; j < g.n; ++j) {
        Out sum{};
        for (std::int64_t k = 0; k + 1 < g.k; ++k) {
          sum += static_cast<Out>(g.a(i, k)) * static_cast<Out>(g.b(k, j));
        }
        Out& c = g.c(i, j);
        c = g.beta == Out{} ? g.alpha * sum : g.alpha * sum + g.beta * c;
      }
    }
  }
};

}  // namespace

extern const cpu::GemmRung gemm_cpu_00_triple_loop = cpu::gemm_rung<ForgetsLastK>();

}  // namespace rung
