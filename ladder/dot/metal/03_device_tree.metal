// dot/metal/03_device_tree: all threads of a threadgroup add at once, neighbours first: a tree of
//   nine steps over 512 terms in device memory; each dispatch reduces the threadgroup sums of the
//   previous one, until one is left.
// from: 02_atomic | removes: a single thread that adds 256 terms one by one | bottleneck: the terms
//   go to device memory and back in each step
// needs: nothing | try: rung trace dot/metal/03

#include "device/metal/dot_rung.h"

namespace rung {

constant constexpr int THREADS = 256;
constant constexpr int TERMS = 2 * THREADS;  // per threadgroup

#ifdef __METAL_VERSION__
template <bool PRODUCT, class In, class Out>
kernel void device_tree(constant DotScalars& d [[buffer(0)]], const device In* x [[buffer(1)]],
                        const device In* y [[buffer(2)]], device Out* result [[buffer(3)]],
                        uint groups [[threadgroups_per_grid]],
                        uint group [[threadgroup_position_in_grid]],
                        uint index [[thread_index_in_threadgroup]]) {
  device Out* sums = result + groups + int64_t(group) * TERMS;  // after the threadgroup sums
  const int thread_index = int(index);

  // load
  const int64_t first = int64_t(group) * TERMS;
  for (int t = thread_index; t < TERMS; t += THREADS) {
    sums[t] = first + t < d.n ? term<PRODUCT, Out>(d, x, y, first + t) : Out(0);
  }

  // reduce
  for (int stride = 1; stride <= THREADS; stride *= 2) {
    threadgroup_barrier(mem_flags::mem_device);
    if (thread_index % stride == 0) sums[2 * thread_index] += sums[2 * thread_index + stride];
  }

  // store
  if (thread_index == 0) result[group] = sums[0];
}
#endif

RUNG_METAL_DOT_PASSES(03, device_tree, THREADS, TERMS, TERMS)

}  // namespace rung
