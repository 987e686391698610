// gemm/metal/01_shared_tile: a threadgroup loads a tile of A and a tile of B into threadgroup
//   memory, and all its threads read both from there.
// from: 00_naive | removes: two device loads per FMA: each load now serves 16 FMAs
//   | bottleneck: two threadgroup loads per FMA; partial tiles are not supported
// needs: m, n and k that are multiples of 16 | try: rung trace gemm/metal/01

#include "device/metal/rung.h"

namespace rung {

constant constexpr int BM = 16;
constant constexpr int BN = 16;
constant constexpr int BK = 16;
static_assert(BK == BM && BK == BN, "each thread loads one element of either tile");

#ifdef __METAL_VERSION__
template <class In, class Out>
kernel void shared_tile(constant GemmScalars<Out>& g [[buffer(0)]],
                        const device In* a [[buffer(1)]], const device In* b [[buffer(2)]],
                        device Out* c [[buffer(3)]], uint2 position [[thread_position_in_grid]],
                        uint2 in_tile [[thread_position_in_threadgroup]]) {
  threadgroup In As[BM][BK];
  threadgroup In Bs[BK][BN];

  // place
  const Matrix<const In> A = matrix_a(g, a);
  const Matrix<const In> B = matrix_b(g, b);
  const uint thread_row = in_tile.y;
  const uint thread_col = in_tile.x;
  const int64_t row = position.y;
  const int64_t col = position.x;

  Out sum = 0;
  for (int64_t k0 = 0; k0 < g.k; k0 += BK) {
    // load
    As[thread_row][thread_col] = A(row, k0 + thread_col);
    Bs[thread_row][thread_col] = B(k0 + thread_row, col);

    // sync: the tiles are complete
    threadgroup_barrier(mem_flags::mem_threadgroup);

    // multiply
    for (int k = 0; k < BK; ++k) {
      sum += Out(As[thread_row][k]) * Out(Bs[k][thread_col]);
    }

    // sync: all reads of the tiles are done
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  // store
  store(g, c, row, col, sum);
}
#endif

RUNG_METAL_GEMM_MULTIPLES(01, shared_tile, BK, {BM, BN, BK}, {BN, BM})

}  // namespace rung
