// dot/metal/08_shuffles: simd_sum: the threads of a simdgroup reduce from register to register,
//   then one simdgroup reduces the simdgroup sums.
// from: 07_coarsened | removes: threadgroup memory and barriers from all steps of the tree but one
//   | bottleneck: loads of one element, and short-lived threadgroups of 16 loads per thread
// needs: nothing | try: rung trace dot/metal/08

#include "device/metal/dot_rung.h"

namespace rung {

constant constexpr int THREADS = 256;
constant constexpr int COARSE = 16;  // terms per thread
constant constexpr int TERMS = COARSE * THREADS;
constant constexpr int SIMDGROUPS = THREADS / 32;
static_assert(SIMDGROUPS <= 32, "one simdgroup adds up all simdgroups");

#ifdef __METAL_VERSION__
template <class In, class Out>
kernel void shuffles(constant DotScalars& d [[buffer(0)]], const device In* x [[buffer(1)]],
                     const device In* y [[buffer(2)]], device Out* result [[buffer(3)]],
                     uint group [[threadgroup_position_in_grid]],
                     uint index [[thread_index_in_threadgroup]],
                     uint simdgroup [[simdgroup_index_in_threadgroup]],
                     uint lane [[thread_index_in_simdgroup]]) {
  threadgroup Out sums[SIMDGROUPS];

  // load: coalesced
  const int64_t first = int64_t(group) * TERMS + index;
  Out sum = 0;
  RUNG_UNROLL
  for (int t = 0; t < TERMS; t += THREADS) {
    if (first + t < d.n) sum += term<true, Out>(d, x, y, first + t);
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

RUNG_METAL_DOT(08, shuffles, THREADS, TERMS, Finish::zeroed)

}  // namespace rung
