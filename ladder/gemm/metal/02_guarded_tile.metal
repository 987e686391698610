// gemm/metal/02_guarded_tile: bounds checks: elements of a tile that are outside the matrix are
//   loaded as zeros and not stored.
// from: 01_shared_tile | removes: the need for multiples of the tile | bottleneck: two threadgroup
//   loads per FMA
// needs: nothing | try: rung trace gemm/metal/02

#include "device/metal/rung.h"

namespace rung {

constant constexpr int BM = 16;
constant constexpr int BN = 16;
constant constexpr int BK = 16;
static_assert(BK == BM && BK == BN, "each thread loads one element of either tile");

#ifdef __METAL_VERSION__
template <class In, class Out>
kernel void guarded_tile(constant GemmScalars<Out>& g [[buffer(0)]],
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
    // load: zeros out of bounds, which leave the sums unchanged
    const int64_t a_col = k0 + thread_col;
    const int64_t b_row = k0 + thread_row;
    As[thread_row][thread_col] = row < g.m && a_col < g.k ? A(row, a_col) : In(0);
    Bs[thread_row][thread_col] = b_row < g.k && col < g.n ? B(b_row, col) : In(0);

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
  if (row < g.m && col < g.n) store(g, c, row, col, sum);
}
#endif

RUNG_METAL_GEMM(02, guarded_tile, {BM, BN, BK}, {BN, BM})

}  // namespace rung
