// dot/metal/07_coarsened: thread coarsening: each thread first adds up 16 terms by itself, then the
//   threadgroup reduces its threads' sums.
// from: 06_hierarchical | removes: seven of eight trees with their barriers and idle threads, and
//   seven of eight atomic additions | bottleneck: a barrier for each step of the tree
// needs: nothing | try: rung trace dot/metal/07

#include "device/metal/dot_rung.h"

namespace rung {

constant constexpr int THREADS = 256;
constant constexpr int COARSE = 16;  // terms per thread
constant constexpr int TERMS = COARSE * THREADS;

#ifdef __METAL_VERSION__
template <class In, class Out>
kernel void coarsened(constant DotScalars& d [[buffer(0)]], const device In* x [[buffer(1)]],
                      const device In* y [[buffer(2)]], device Out* result [[buffer(3)]],
                      uint group [[threadgroup_position_in_grid]],
                      uint index [[thread_index_in_threadgroup]]) {
  threadgroup Out sums[THREADS];
  const int thread_index = int(index);

  // load: coalesced
  const int64_t first = int64_t(group) * TERMS + index;
  Out sum = 0;
  RUNG_UNROLL
  for (int t = 0; t < TERMS; t += THREADS) {
    if (first + t < d.n) sum += term<true, Out>(d, x, y, first + t);
  }
  sums[thread_index] = sum;

  // reduce
  for (int stride = THREADS / 2; stride > 0; stride /= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (thread_index < stride) sums[thread_index] += sums[thread_index + stride];
  }

  // store
  if (thread_index == 0) add_to(result, sums[0]);
}
#endif

RUNG_METAL_DOT(07, coarsened, THREADS, TERMS, Finish::zeroed)

}  // namespace rung
