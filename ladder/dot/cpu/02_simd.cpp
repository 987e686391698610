// dot/cpu/02_simd: make each accumulator a vector.
// from: 01_accumulators | removes: the limit of one element per instruction | bottleneck: the
//   memory bandwidth of one core, once the vectors exceed the caches
// needs: unit strides; SIMD by Highway, dispatched at run time | try: rung bench dot/cpu/01
//   dot/cpu/02

#include "device/cpu/rung.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ladder/dot/cpu/02_simd.cpp"
#include "device/cpu/simd.hpp"
// Compiled once per target:
#include "device/cpu/load-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::dot_cpu_02::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using cpu::HWY_NAMESPACE::load;
using cpu::HWY_NAMESPACE::load_first;

// Each term needs two loads, and two loads start per cycle: four sums cover the four cycles of an
// addition.
constexpr int sums = 4;

template <class In, class Out>
Out dot(const Dot<In>& problem, int /*threads*/) {
  const hn::ScalableTag<Out> d;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  const In* const x = problem.x;
  const In* const y = problem.y;
  const std::int64_t n = problem.n;

  hn::Vec<decltype(d)> sum[sums];
#pragma GCC unroll 8
  for (int s = 0; s < sums; ++s) sum[s] = hn::Zero(d);

  std::int64_t i = 0;
  for (; i + sums * lanes <= n; i += sums * lanes) {
#pragma GCC unroll 8
    for (int s = 0; s < sums; ++s) {
      sum[s] = hn::MulAdd(load(d, x + i + s * lanes), load(d, y + i + s * lanes), sum[s]);
    }
  }
#pragma GCC unroll 8
  for (int s = 0; s < sums - 1; ++s) {
    if (i + lanes > n) break;
    sum[s] = hn::MulAdd(load(d, x + i), load(d, y + i), sum[s]);
    i += lanes;
  }
  if (i < n) {
    sum[sums - 1] =
        hn::MulAdd(load_first(d, x + i, n - i), load_first(d, y + i, n - i), sum[sums - 1]);
  }

#pragma GCC unroll 4
  for (int width = sums / 2; width > 0; width /= 2) {
#pragma GCC unroll 4
    for (int s = 0; s < width; ++s) sum[s] = hn::Add(sum[s], sum[s + width]);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum[0]));
}

cpu::DotRung functions() {
  return {true, dot<float, float>, dot<double, double>, dot<bfloat16, float>, dot<float16, float>};
}

}  // namespace rung::dot_cpu_02::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung {
namespace dot_cpu_02 {

struct Simd {
  template <class In, class Out>
  static Out run(const Dot<In>& problem, int threads) {
    static const auto dot = RUNG_PICK_TARGET(functions)().template function<In>();
    return dot(problem, threads);
  }
};

}  // namespace dot_cpu_02

extern const cpu::DotRung dot_cpu_02_simd = cpu::dot_rung<dot_cpu_02::Simd>(cpu::Strides::unit);

}  // namespace rung
#endif  // HWY_ONCE
