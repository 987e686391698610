// dot/metal/04_shared_tree: the same tree in threadgroup memory.
// from: 03_device_tree | removes: device-memory traffic between the steps | bottleneck: divergence:
//   in each step, fewer threads of every simdgroup are active, but the simdgroup takes as long
// needs: nothing | try: rung trace dot/metal/04

#include "device/metal/dot_rung.h"

namespace rung {

constant constexpr int THREADS = 256;
constant constexpr int TERMS = 2 * THREADS;  // per threadgroup

#ifdef __METAL_VERSION__
template <bool PRODUCT, class In, class Out>
kernel void shared_tree(constant DotScalars& d [[buffer(0)]], const device In* x [[buffer(1)]],
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
  for (int stride = 1; stride <= THREADS; stride *= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (thread_index % stride == 0) sums[2 * thread_index] += sums[2 * thread_index + stride];
  }

  // store
  if (thread_index == 0) result[group] = sums[0];
}
#endif

RUNG_METAL_DOT_PASSES(04, shared_tree, THREADS, TERMS, 0)

}  // namespace rung
