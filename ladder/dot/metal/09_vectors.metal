// dot/metal/09_vectors: loads of four elements, several of them in flight, in a loop over both
//   vectors by a fixed number of threadgroups.
// from: 08_shuffles | removes: loads of one element, and the start and end of thousands of
//   threadgroups | bottleneck: the order of atomic additions, and so the result's last bits, differ
//   from run to run
// needs: nothing | try: rung trace dot/metal/09

#include "device/metal/dot_rung.h"

namespace rung {

constant constexpr int THREADS = 256;
constant constexpr int VEC = 4;    // elements per load
constant constexpr int LOADS = 4;  // in flight per vector
constant constexpr int TERMS = THREADS * VEC * LOADS;
constant constexpr int MOST_THREADGROUPS = 192;
constant constexpr int SIMDGROUPS = THREADS / 32;
static_assert(SIMDGROUPS <= 32, "one simdgroup adds up all simdgroups");

#ifdef __METAL_VERSION__
template <class In, class Out>
kernel void vectors(constant DotScalars& d [[buffer(0)]], const device In* x [[buffer(1)]],
                    const device In* y [[buffer(2)]], device Out* result [[buffer(3)]],
                    uint groups [[threadgroups_per_grid]],
                    uint group [[threadgroup_position_in_grid]],
                    uint index [[thread_index_in_threadgroup]],
                    uint simdgroup [[simdgroup_index_in_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]]) {
  threadgroup Out sums[SIMDGROUPS];

  // load
  Out sum = 0;
  const int64_t whole = d.are_vectors != 0 ? d.n / TERMS * TERMS : 0;  // terms in vectors of four
  for (int64_t first = int64_t(group) * TERMS; first < whole; first += int64_t(groups) * TERMS) {
    vec<In, VEC> xs[LOADS];
    vec<In, VEC> ys[LOADS];
    RUNG_UNROLL
    for (int i = 0; i < LOADS; ++i) {
      const int64_t at = first / VEC + i * THREADS + index;
      xs[i] = reinterpret_cast<const device vec<In, VEC>*>(x)[at];
      ys[i] = reinterpret_cast<const device vec<In, VEC>*>(y)[at];
    }
    RUNG_UNROLL
    for (int i = 0; i < LOADS; ++i) {
      RUNG_UNROLL
      for (int v = 0; v < VEC; ++v) sum += Out(xs[i][v]) * Out(ys[i][v]);
    }
  }
  // load: the rest, one by one
  for (int64_t i = whole + int64_t(group) * THREADS + index; i < d.n;
       i += int64_t(groups) * THREADS) {
    sum += term<true, Out>(d, x, y, i);
  }

  // reduce
  sum = simd_sum(sum);
  if (lane == 0) sums[simdgroup] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (simdgroup != 0) return;
  sum = simd_sum(lane < SIMDGROUPS ? sums[lane] : Out(0));

  // store
  if (lane == 0) add_to(result, sum);
}
#endif

RUNG_METAL_DOT_IN_TURNS(09, vectors, THREADS, TERMS, MOST_THREADGROUPS)

}  // namespace rung
