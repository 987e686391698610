// dot/metal/02_atomic: threadgroups add their sums to the result with atomic additions: all work
//   happens on the GPU.
// from: 01_block_sums | removes: the CPU, and the wait for it | bottleneck: of a threadgroup's 256
//   threads, 255 wait while one adds
// needs: nothing | try: rung trace dot/metal/02

#include "device/metal/dot_rung.h"

namespace rung {

constant constexpr int THREADS = 256;

#ifdef __METAL_VERSION__
template <class In, class Out>
kernel void atomic(constant DotScalars& d [[buffer(0)]], const device In* x [[buffer(1)]],
                   const device In* y [[buffer(2)]], device Out* result [[buffer(3)]],
                   uint group [[threadgroup_position_in_grid]],
                   uint index [[thread_index_in_threadgroup]]) {
  threadgroup Out terms[THREADS];

  // load
  const int64_t i = int64_t(group) * THREADS + index;
  terms[index] = i < d.n ? Out(x[i * d.incx]) * Out(y[i * d.incy]) : Out(0);
  threadgroup_barrier(mem_flags::mem_threadgroup);

  // reduce
  if (index != 0) return;
  Out sum = 0;
  for (int t = 0; t < THREADS; ++t) sum += terms[t];

  // store
  add_to(result, sum);
}
#endif

RUNG_METAL_DOT(02, atomic, THREADS, THREADS, Finish::zeroed)

}  // namespace rung
