// dot/cpu/01_accumulators: deal the terms out to several accumulators, whose additions overlap.
// from: 00_one_accumulator | removes: the wait of each addition for the previous one
//   | bottleneck: one element per instruction
// needs: nothing | try: rung bench dot/cpu/00 dot/cpu/01 --n 1000

#include "device/cpu/rung.hpp"

namespace rung {
namespace {

// An addition takes about 4 cycles, and two start per cycle: 8 sums keep both units busy.
constexpr std::int64_t sums = 8;

struct Accumulators {
  template <class In, class Out>
  static Out run(const Dot<In>& d, int /*threads*/) {
    Out sum[sums] = {};
    std::int64_t i = 0;
    for (; i + sums <= d.n; i += sums) {
      for (std::int64_t s = 0; s < sums; ++s) sum[s] += product<In, Out>(d, i + s);
    }
    for (; i < d.n; ++i) sum[0] += product<In, Out>(d, i);
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
  }

  template <class In, class Out>
  static Out product(const Dot<In>& d, std::int64_t i) {
    return static_cast<Out>(d.x[i * d.incx]) * static_cast<Out>(d.y[i * d.incy]);
  }
};

}  // namespace

extern const cpu::DotRung dot_cpu_01_accumulators = cpu::dot_rung<Accumulators>(cpu::Strides::any);

}  // namespace rung
