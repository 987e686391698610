// dot/metal/05_contiguous: each thread adds the term half of the remaining range away, so that the
//   active threads are neighbours, as are their terms.
// from: 04_shared_tree | removes: divergence within simdgroups | bottleneck: one dispatch for each
//   factor of 512 terms
// needs: nothing | try: rung trace dot/metal/05

#include "device/metal/dot_rung.h"

namespace rung {

constant constexpr int THREADS = 256;
constant constexpr int TERMS = 2 * THREADS;  // per threadgroup

#ifdef __METAL_VERSION__
template <bool PRODUCT, class In, class Out>
kernel void contiguous(constant DotScalars& d [[buffer(0)]], const device In* x [[buffer(1)]],
                       const device In* y [[buffer(2)]], device Out* result [[buffer(3)]],
                       uint group [[threadgroup_position_in_grid]],
                       uint index [[thread_index_in_threadgroup]]) {
  threadgroup Out sums[TERMS];
  const int thread_index = int(index);

  // load
  const int64_t first = int64_t(group) * TERMS;
  for (int t = thread_index; t < TERMS; t += THREADS) {
    sums[t] = first + t < d.n ? term<PRODUCT, Out>(d, x, y, first + t) : Out(0);
  }

  // reduce
  for (int stride = THREADS; stride > 0; stride /= 2) {
    // the first two terms are this thread's own
    if (stride < THREADS) threadgroup_barrier(mem_flags::mem_threadgroup);
    if (thread_index < stride) sums[thread_index] += sums[thread_index + stride];
  }

  // store
  if (thread_index == 0) result[group] = sums[0];
}
#endif

RUNG_METAL_DOT_PASSES(05, contiguous, THREADS, TERMS, 0)

}  // namespace rung
