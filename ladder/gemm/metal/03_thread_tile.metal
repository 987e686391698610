// gemm/metal/03_thread_tile: each thread computes 4 x 4 results as outer products of 4 elements of
//   A and 4 of B, from registers.
// from: 02_guarded_tile | removes: two threadgroup loads per FMA: 8 loads now serve 16 FMAs
//   | bottleneck: each load moves one element
// needs: nothing | try: rung trace gemm/metal/03

#include "device/metal/rung.h"

namespace rung {

constant constexpr int BM = 64;
constant constexpr int BN = 64;
constant constexpr int BK = 16;
constant constexpr int TM = 4;
constant constexpr int TN = 4;
constant constexpr int THREADS = BM / TM * (BN / TN);
static_assert(BM * BK % THREADS == 0 && BK * BN % THREADS == 0,
              "each thread loads the same number of elements of either tile");

#ifdef __METAL_VERSION__
template <class In, class Out>
kernel void thread_tile(constant GemmScalars<Out>& g [[buffer(0)]],
                        const device In* a [[buffer(1)]], const device In* b [[buffer(2)]],
                        device Out* c [[buffer(3)]], uint2 tile [[threadgroup_position_in_grid]],
                        uint index [[thread_index_in_threadgroup]]) {
  threadgroup Out As[BM][BK];
  threadgroup Out Bs[BK][BN];

  // place
  const Matrix<const In> A = matrix_a(g, a);
  const Matrix<const In> B = matrix_b(g, b);
  const int64_t tile_row = int64_t(tile.y) * BM;
  const int64_t tile_col = int64_t(tile.x) * BN;
  const uint thread_row = index / (BN / TN) * TM;
  const uint thread_col = index % (BN / TN) * TN;

  Out acc[TM][TN] = {};
  for (int64_t k0 = 0; k0 < g.k; k0 += BK) {
    // load
    for (uint i = index; i < BM * BK; i += THREADS) {
      const int64_t row = tile_row + i / BK;
      const int64_t col = k0 + i % BK;
      As[i / BK][i % BK] = row < g.m && col < g.k ? Out(A(row, col)) : Out(0);
    }
    for (uint i = index; i < BK * BN; i += THREADS) {
      const int64_t row = k0 + i / BN;
      const int64_t col = tile_col + i % BN;
      Bs[i / BN][i % BN] = row < g.k && col < g.n ? Out(B(row, col)) : Out(0);
    }

    // sync: the tiles are complete
    threadgroup_barrier(mem_flags::mem_threadgroup);

    // multiply
    for (int k = 0; k < BK; ++k) {
      Out a_frag[TM];
      Out b_frag[TN];
      RUNG_UNROLL
      for (int i = 0; i < TM; ++i) a_frag[i] = As[thread_row + i][k];
      RUNG_UNROLL
      for (int j = 0; j < TN; ++j) b_frag[j] = Bs[k][thread_col + j];
      RUNG_UNROLL
      for (int i = 0; i < TM; ++i) {
        RUNG_UNROLL
        for (int j = 0; j < TN; ++j) acc[i][j] += a_frag[i] * b_frag[j];
      }
    }

    // sync: all reads of the tiles are done
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  // store
  RUNG_UNROLL
  for (int i = 0; i < TM; ++i) {
    RUNG_UNROLL
    for (int j = 0; j < TN; ++j) {
      const int64_t row = tile_row + thread_row + i;
      const int64_t col = tile_col + thread_col + j;
      if (row < g.m && col < g.n) store(g, c, row, col, acc[i][j]);
    }
  }
}
#endif

RUNG_METAL_GEMM(03, thread_tile, {BM, BN, BK, TM, TN}, {THREADS})

}  // namespace rung
