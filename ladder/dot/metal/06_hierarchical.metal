// dot/metal/06_hierarchical: each threadgroup adds its sum to the result with one atomic addition:
//   any n in one dispatch.
// from: 05_contiguous | removes: the dispatches that add up the threadgroup sums | bottleneck: half
//   of the threads are idle from the first step of the tree on, for two terms that each has loaded
// needs: nothing | try: rung trace dot/metal/06

#include "device/metal/dot_rung.h"

namespace rung {

constant constexpr int THREADS = 256;
constant constexpr int TERMS = 2 * THREADS;  // per threadgroup

#ifdef __METAL_VERSION__
template <class In, class Out>
kernel void hierarchical(constant DotScalars& d [[buffer(0)]], const device In* x [[buffer(1)]],
                         const device In* y [[buffer(2)]], device Out* result [[buffer(3)]],
                         uint group [[threadgroup_position_in_grid]],
                         uint index [[thread_index_in_threadgroup]]) {
  threadgroup Out sums[TERMS];
  const int thread_index = int(index);

  // load
  const int64_t first = int64_t(group) * TERMS;
  for (int t = thread_index; t < TERMS; t += THREADS) {
    sums[t] = first + t < d.n ? term<true, Out>(d, x, y, first + t) : Out(0);
  }

  // reduce
  for (int stride = THREADS; stride > 0; stride /= 2) {
    // the first two terms are this thread's own
    if (stride < THREADS) threadgroup_barrier(mem_flags::mem_threadgroup);
    if (thread_index < stride) sums[thread_index] += sums[thread_index + stride];
  }

  // store
  if (thread_index == 0) add_to(result, sums[0]);
}
#endif

RUNG_METAL_DOT(06, hierarchical, THREADS, TERMS, Finish::zeroed)

}  // namespace rung
