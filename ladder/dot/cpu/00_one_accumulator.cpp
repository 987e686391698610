// dot/cpu/00_one_accumulator: one accumulator: multiply, add, next.
// from: nothing | removes: nothing | bottleneck: each addition waits for the previous one
// needs: nothing | try: rung bench dot/cpu/00

#include "device/cpu/rung.hpp"

namespace rung {
namespace {

struct OneAccumulator {
  template <class In, class Out>
  static Out run(const Dot<In>& d, int /*threads*/) {
    Out sum{};
    for (std::int64_t i = 0; i < d.n; ++i) {
      sum += static_cast<Out>(d.x[i * d.incx]) * static_cast<Out>(d.y[i * d.incy]);
    }
    return sum;
  }
};

}  // namespace

extern const cpu::DotRung dot_cpu_00_one_accumulator =
    cpu::dot_rung<OneAccumulator>(cpu::Strides::any);

}  // namespace rung
