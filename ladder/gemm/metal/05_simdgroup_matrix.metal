// gemm/metal/05_simdgroup_matrix: a simdgroup multiplies 8 x 8 matrices as a unit; each of its
//   threads holds two elements of each.
// from: 04_vectors | removes: a threadgroup load of A and of B by each thread per 16 FMAs
//   | bottleneck: load latency is exposed; no loads are in flight during the multiply
// needs: nothing | try: rung trace gemm/metal/05

#include "device/metal/rung.h"

#ifdef __METAL_VERSION__
#include "device/metal/staged_tile.h"
#endif

namespace rung {

constant constexpr int BM = 64;
constant constexpr int BN = 64;
constant constexpr int BK = 16;
constant constexpr int WM = 32;  // per simdgroup
constant constexpr int WN = 32;
constant constexpr int TILE = 8;  // rows and columns of a simdgroup_matrix
constant constexpr int SIMDGROUPS = BM / WM * (BN / WN);
constant constexpr int THREADS = SIMDGROUPS * 32;
static_assert(WM % TILE == 0 && WN % TILE == 0 && BK % TILE == 0, "matrices are whole");

#ifdef __METAL_VERSION__
template <class In, class Out>
kernel void simdgroup_matrix(constant GemmScalars<Out>& g [[buffer(0)]],
                             const device In* a [[buffer(1)]], const device In* b [[buffer(2)]],
                             device Out* c [[buffer(3)]],
                             uint2 tile [[threadgroup_position_in_grid]],
                             uint index [[thread_index_in_threadgroup]],
                             uint simdgroup [[simdgroup_index_in_threadgroup]],
                             uint lane [[thread_index_in_simdgroup]]) {
  threadgroup In As[BK][BM];
  threadgroup In Bs[BK][BN];
  threadgroup Out Cs[SIMDGROUPS][2][TILE][WN];

  // place
  const Operand<In> A = operand_a(g, a);
  const Operand<In> B = operand_b(g, b);
  const int64_t tile_row = int64_t(tile.y) * BM;
  const int64_t tile_col = int64_t(tile.x) * BN;
  const uint row = simdgroup / (BN / WN) * WM;
  const uint col = simdgroup % (BN / WN) * WN;

  StagedTile<In, In, BM, BK, THREADS> a_tile;
  StagedTile<In, In, BN, BK, THREADS> b_tile;
  metal::simdgroup_matrix<Out, TILE, TILE> acc[WM / TILE][WN / TILE];
  RUNG_UNROLL
  for (int i = 0; i < WM / TILE; ++i) {
    RUNG_UNROLL
    for (int j = 0; j < WN / TILE; ++j) {
      acc[i][j] = make_filled_simdgroup_matrix<Out, TILE, TILE>(0);
    }
  }
  for (int64_t k0 = 0; k0 < g.k; k0 += BK) {
    // load
    a_tile.load(A, tile_row, k0, index);
    b_tile.load(B, tile_col, k0, index);
    a_tile.store(As[0], A.is_along_k, index);
    b_tile.store(Bs[0], B.is_along_k, index);

    // sync: the tiles are complete
    threadgroup_barrier(mem_flags::mem_threadgroup);

    // multiply: A is transposed
    for (int k = 0; k < BK; k += TILE) {
      metal::simdgroup_matrix<In, TILE, TILE> a_frag[WM / TILE];
      metal::simdgroup_matrix<In, TILE, TILE> b_frag[WN / TILE];
      RUNG_UNROLL
      for (int i = 0; i < WM / TILE; ++i) {
        simdgroup_load(a_frag[i], &As[k][row + i * TILE], BM, ulong2(0), true);
      }
      RUNG_UNROLL
      for (int j = 0; j < WN / TILE; ++j) {
        simdgroup_load(b_frag[j], &Bs[k][col + j * TILE], BN);
      }
      RUNG_UNROLL
      for (int i = 0; i < WM / TILE; ++i) {
        RUNG_UNROLL
        for (int j = 0; j < WN / TILE; ++j) {
          simdgroup_multiply_accumulate(acc[i][j], a_frag[i], b_frag[j], acc[i][j]);
        }
      }
    }

    // sync: all reads of the tiles are done
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  // store: through threadgroup memory, because the layout of a simdgroup_matrix is unspecified.
  // A simdgroup writes one row of matrices while its threads may still read the previous one.
  RUNG_UNROLL
  for (int i = 0; i < WM / TILE; ++i) {
    RUNG_UNROLL
    for (int j = 0; j < WN / TILE; ++j) {
      simdgroup_store(acc[i][j], &Cs[simdgroup][i % 2][0][j * TILE], WN);
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (uint e = lane; e < TILE * WN; e += 32) {
      const int64_t c_row = tile_row + row + i * TILE + e / WN;
      const int64_t c_col = tile_col + col + e % WN;
      if (c_row < g.m && c_col < g.n) {
        store(g, c, c_row, c_col, Cs[simdgroup][i % 2][e / WN][e % WN]);
      }
    }
  }
}
#endif

RUNG_METAL_GEMM_FLOATS(05, simdgroup_matrix, {.BM = BM, .BN = BN, .BK = BK, .WM = WM, .WN = WN},
                       {THREADS})

}  // namespace rung
