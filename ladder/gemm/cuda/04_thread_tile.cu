// gemm/cuda/04_thread_tile: each thread computes 8 x 8 results as outer products of 8 elements of A
//   and 8 of B, from registers.
// from: 03_thread_column | removes: 9 shared loads per 8 FMAs: 16 loads now serve 64 FMAs
//   | bottleneck: each load moves one element, so loads take issue slots from FMAs; on sm_80 the
//   kernel spills a few registers
// needs: nothing | try: rung trace gemm/cuda/04

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/store.cuh"

namespace rung {
namespace {

struct ThreadTile {
  static constexpr int BM = 128;
  static constexpr int BN = 128;
  static constexpr int BK = 8;
  static constexpr int TM = 8;
  static constexpr int TN = 8;
  static constexpr int THREADS = BM / TM * (BN / TN);
  static constexpr cuda::Dim3 block = {THREADS};
  static_assert(BM * BK % THREADS == 0 && BK * BN % THREADS == 0,
                "each thread loads the same number of elements of either tile");

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g) {
    __shared__ Out As[BM][BK];
    __shared__ Out Bs[BK][BN];

    // place
    const cuda::TileCoord tile = cuda::tile_of_block<BM, BN>(g);
    const unsigned thread_row = threadIdx.x / (BN / TN) * TM;
    const unsigned thread_col = threadIdx.x % (BN / TN) * TN;

    Out acc[TM][TN] = {};
    for (std::int64_t k0 = 0; k0 < g.k; k0 += BK) {
      // load
      for (unsigned i = threadIdx.x; i < BM * BK; i += THREADS) {
        const std::int64_t row = tile.row + i / BK;
        const std::int64_t col = k0 + i % BK;
        As[i / BK][i % BK] = row < g.m && col < g.k ? static_cast<Out>(g.a(row, col)) : Out{};
      }
      for (unsigned i = threadIdx.x; i < BK * BN; i += THREADS) {
        const std::int64_t row = k0 + i / BN;
        const std::int64_t col = tile.col + i % BN;
        Bs[i / BN][i % BN] = row < g.k && col < g.n ? static_cast<Out>(g.b(row, col)) : Out{};
      }

      // sync: the tiles are complete
      __syncthreads();

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
      __syncthreads();
    }

    // store
    RUNG_UNROLL
    for (int i = 0; i < TM; ++i) {
      RUNG_UNROLL
      for (int j = 0; j < TN; ++j) {
        const std::int64_t row = tile.row + thread_row + i;
        const std::int64_t col = tile.col + thread_col + j;
        if (row < g.m && col < g.n) cuda::store(g, row, col, acc[i][j]);
      }
    }
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g) {
    return {.grid = {cuda::tiles_of_c<BM, BN>(g)}, .block = block};
  }
};

}  // namespace

RUNG_CUDA_GEMM(04_thread_tile, ThreadTile, f32, f64, i32, bf16, f16)

}  // namespace rung
