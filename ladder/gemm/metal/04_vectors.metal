// gemm/metal/04_vectors: vectorized accesses: four elements each in device memory and, with the
//   tile of A transposed, in threadgroup memory.
// from: 03_thread_tile | removes: one access per element: each access now moves four
//   | bottleneck: the FMAs of single threads, while the simdgroup matrix units are idle
// needs: nothing | try: rung trace gemm/metal/04

#include "device/metal/rung.h"

#ifdef __METAL_VERSION__
#include "device/metal/staged_tile.h"
#endif

namespace rung {

constant constexpr int BM = 64;
constant constexpr int BN = 64;
constant constexpr int BK = 16;
constant constexpr int TM = 4;
constant constexpr int TN = 4;
constant constexpr int THREADS = BM / TM * (BN / TN);

#ifdef __METAL_VERSION__
template <class In, class Out>
kernel void vectors(constant GemmScalars<Out>& g [[buffer(0)]], const device In* a [[buffer(1)]],
                    const device In* b [[buffer(2)]], device Out* c [[buffer(3)]],
                    uint2 tile [[threadgroup_position_in_grid]],
                    uint index [[thread_index_in_threadgroup]]) {
  threadgroup vec<Out, TM> As[BK][BM / TM];
  threadgroup vec<Out, TN> Bs[BK][BN / TN];

  // place
  const Operand<In> A = operand_a(g, a);
  const Operand<In> B = operand_b(g, b);
  const int64_t tile_row = int64_t(tile.y) * BM;
  const int64_t tile_col = int64_t(tile.x) * BN;
  const uint thread_row = index / (BN / TN) * TM;
  const uint thread_col = index % (BN / TN) * TN;

  StagedTile<In, Out, BM, BK, THREADS> a_tile;
  StagedTile<In, Out, BN, BK, THREADS> b_tile;
  vec<Out, TN> acc[TM] = {};
  for (int64_t k0 = 0; k0 < g.k; k0 += BK) {
    // load
    a_tile.load(A, tile_row, k0, index);
    b_tile.load(B, tile_col, k0, index);
    a_tile.store(reinterpret_cast<threadgroup Out*>(As), A.is_along_k, index);
    b_tile.store(reinterpret_cast<threadgroup Out*>(Bs), B.is_along_k, index);

    // sync: the tiles are complete
    threadgroup_barrier(mem_flags::mem_threadgroup);

    // multiply
    for (int k = 0; k < BK; ++k) {
      const vec<Out, TM> a_frag = As[k][thread_row / TM];
      const vec<Out, TN> b_frag = Bs[k][thread_col / TN];
      RUNG_UNROLL
      for (int i = 0; i < TM; ++i) acc[i] += a_frag[i] * b_frag;
    }

    // sync: all reads of the tiles are done
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  // store
  RUNG_UNROLL
  for (int i = 0; i < TM; ++i) {
    store_vector(g, c, tile_row + thread_row + i, tile_col + thread_col, acc[i]);
  }
}
#endif

RUNG_METAL_GEMM(04, vectors, {BM, BN, BK, TM, TN}, {THREADS})

}  // namespace rung
