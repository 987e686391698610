// dot/metal/00_multiply: the GPU multiplies, one product per thread, and the CPU adds up the
//   products in parallel.
// from: nothing | removes: nothing | bottleneck: every product goes to memory, and from there to
//   the CPU
// needs: nothing | try: rung trace dot/metal/00

#include "device/metal/dot_rung.h"

namespace rung {

constant constexpr int THREADS = 256;

#ifdef __METAL_VERSION__
template <class In, class Out>
kernel void multiply(constant DotScalars& d [[buffer(0)]], const device In* x [[buffer(1)]],
                     const device In* y [[buffer(2)]], device Out* result [[buffer(3)]],
                     uint group [[threadgroup_position_in_grid]],
                     uint index [[thread_index_in_threadgroup]]) {
  const int64_t i = int64_t(group) * THREADS + index;
  if (i < d.n) result[i] = Out(x[i * d.incx]) * Out(y[i * d.incy]);
}
#endif

RUNG_METAL_DOT(00, multiply, THREADS, THREADS, Finish::host_terms)

}  // namespace rung
