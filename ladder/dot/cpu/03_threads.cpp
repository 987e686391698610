// dot/cpu/03_threads: cut the vectors into chunks, sum each chunk on whichever thread is free, and
//   add the partial sums in chunk order, so that the result does not depend on the threads.
// from: 02_simd | removes: the limit of a single core | bottleneck: two read streams per core, too
//   few to saturate memory
// needs: unit strides; SIMD by Highway, dispatched at run time | try: rung bench dot/cpu/03
//   --threads 2

#include <algorithm>

#include "device/cpu/integers.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/rung.hpp"
#include "device/cpu/workspace.hpp"

namespace rung {

extern const cpu::DotRung dot_cpu_02_simd;

namespace {

// A microsecond of work even from L2: several times the cost of handing it out.
constexpr std::int64_t chunk = 1 << 14;

// Neighbouring chunks go to the same thread, so that prefetching continues from one to the next. A
// few groups per thread balance the load when other work delays one of the threads.
constexpr std::int64_t groups_per_thread = 8;

struct Threads {
  template <class In, class Out>
  static Out run(const Dot<In>& d, int threads) {
    const auto simd = dot_cpu_02_simd.function<In>();
    if (d.n <= chunk) return simd(d, 1);

    const std::int64_t chunks = cpu::ceil_div(d.n, chunk);
    Out* const partial = cpu::scratch<Out>(chunks);
    const std::int64_t groups = std::min(chunks, groups_per_thread * threads);
    cpu::parallel_for(groups, threads, [&](std::int64_t group) {
      const std::int64_t end = (group + 1) * chunks / groups;
      for (std::int64_t c = group * chunks / groups; c < end; ++c) {
        const std::int64_t begin = c * chunk;
        partial[c] = simd({std::min(chunk, d.n - begin), d.x + begin, 1, d.y + begin, 1}, 1);
      }
    });
    Out sum{};
    for (std::int64_t c = 0; c < chunks; ++c) sum += partial[c];
    return sum;
  }
};

}  // namespace

extern const cpu::DotRung dot_cpu_03_threads = cpu::dot_rung<Threads>(cpu::Strides::unit);

}  // namespace rung
