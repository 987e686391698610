// dot/cpu/05_streams: read each chunk as several streams at once and prefetch their cache lines, so
//   that more memory requests are in flight.
// from: 03_threads | removes: idle memory between the requests of two streams | bottleneck: the
//   number of outstanding requests that a core supports
// needs: unit strides; SIMD by Highway, dispatched at run time | try: rung bench dot/cpu/03
//   dot/cpu/05 --n 100000000

#include "device/cpu/integers.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/rung.hpp"
#include "device/cpu/workspace.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ladder/dot/cpu/05_streams.cpp"
#include "device/cpu/simd.hpp"
// Compiled once per target:
#include "device/cpu/load-inl.hpp"

#ifndef RUNG_DOT_CPU_05_STREAMS
#define RUNG_DOT_CPU_05_STREAMS
namespace rung::dot_cpu_05 {

constexpr std::int64_t streams = 4;
constexpr std::int64_t chunk = 1 << 18;
constexpr std::int64_t bytes_ahead = 1024;

}  // namespace rung::dot_cpu_05
#endif

HWY_BEFORE_NAMESPACE();
namespace rung::dot_cpu_05::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using cpu::HWY_NAMESPACE::load;

// One chunk.
template <class In, class Out>
Out dot(const Dot<In>& problem, int /*threads*/) {
  const hn::ScalableTag<Out> d;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  constexpr std::int64_t line = 64 / sizeof(In);
  constexpr std::int64_t vectors = line > lanes ? line / lanes : 1;  // at least one cache line
  constexpr std::int64_t length = chunk / streams;
  constexpr std::int64_t ahead = bytes_ahead / sizeof(In);
  static_assert(length % (vectors * lanes) == 0);

  hn::Vec<decltype(d)> sum[streams][2];
#pragma GCC unroll 4
  for (int s = 0; s < streams; ++s) sum[s][0] = sum[s][1] = hn::Zero(d);

  for (std::int64_t i = 0; i < length; i += vectors * lanes) {
#pragma GCC unroll 4
    for (int s = 0; s < streams; ++s) {
      const In* const x = problem.x + s * length + i;
      const In* const y = problem.y + s * length + i;
      __builtin_prefetch(x + ahead);
      __builtin_prefetch(y + ahead);
#pragma GCC unroll 16
      for (int v = 0; v < vectors; ++v) {
        sum[s][v % 2] = hn::MulAdd(load(d, x + v * lanes), load(d, y + v * lanes), sum[s][v % 2]);
      }
    }
  }
  for (int s = 0; s < streams; ++s) sum[s][0] = hn::Add(sum[s][0], sum[s][1]);
  for (int s = 1; s < streams; ++s) sum[0][0] = hn::Add(sum[0][0], sum[s][0]);
  return hn::GetLane(hn::SumOfLanes(d, sum[0][0]));
}

cpu::DotRung functions() {
  return {true, dot<float, float>, dot<double, double>, dot<bfloat16, float>, dot<float16, float>};
}

}  // namespace rung::dot_cpu_05::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung {

extern const cpu::DotRung dot_cpu_02_simd;

namespace dot_cpu_05 {

struct Streams {
  template <class In, class Out>
  static Out run(const Dot<In>& d, int threads) {
    static const auto dot = RUNG_PICK_TARGET(functions)().template function<In>();
    const std::int64_t chunks = d.n / chunk;
    const std::int64_t whole = chunks * chunk;
    Out* const partial = cpu::scratch<Out>(chunks);
    cpu::parallel_for(chunks, threads, [&](std::int64_t c) {
      partial[c] = dot({chunk, d.x + c * chunk, 1, d.y + c * chunk, 1}, 1);
    });
    Out sum = dot_cpu_02_simd.function<In>()({d.n - whole, d.x + whole, 1, d.y + whole, 1}, 1);
    for (std::int64_t c = 0; c < chunks; ++c) sum += partial[c];
    return sum;
  }
};

}  // namespace dot_cpu_05

extern const cpu::DotRung dot_cpu_05_streams =
    cpu::dot_rung<dot_cpu_05::Streams>(cpu::Strides::unit);

}  // namespace rung
#endif  // HWY_ONCE
