// gemm/metal/00_naive: one thread computes one element of C.
// from: nothing | removes: nothing | bottleneck: two loads from device memory per FMA
// needs: nothing | try: rung trace gemm/metal/00

#include "device/metal/rung.h"

namespace rung {

constant constexpr int BM = 16;
constant constexpr int BN = 16;

#ifdef __METAL_VERSION__
template <class In, class Out>
kernel void naive(constant GemmScalars<Out>& g [[buffer(0)]], const device In* a [[buffer(1)]],
                  const device In* b [[buffer(2)]], device Out* c [[buffer(3)]],
                  uint2 position [[thread_position_in_grid]]) {
  // place
  const Matrix<const In> A = matrix_a(g, a);
  const Matrix<const In> B = matrix_b(g, b);
  const int64_t row = position.y;
  const int64_t col = position.x;
  if (row >= g.m || col >= g.n) return;

  // multiply
  Out sum = 0;
  for (int64_t k = 0; k < g.k; ++k) {
    sum += Out(A(row, k)) * Out(B(k, col));
  }

  // store
  store(g, c, row, col, sum);
}
#endif

RUNG_METAL_GEMM(00, naive, {BM, BN}, {BN, BM})

}  // namespace rung
