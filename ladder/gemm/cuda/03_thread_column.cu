// gemm/cuda/03_thread_column: each thread computes a column of 8 results, and keeps each element of
//   B in a register for all of them.
// from: 02_shared_tile | removes: a shared load of B per FMA: each load now serves 8 FMAs
//   | bottleneck: a shared load of A per FMA
// needs: nothing | try: rung trace gemm/cuda/03

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/store.cuh"

namespace rung {
namespace {

struct ThreadColumn {
  static constexpr int BM = 64;
  static constexpr int BN = 64;
  static constexpr int BK = 8;
  static constexpr int TM = 8;
  static constexpr cuda::Dim3 block = {BM * BN / TM};
  static_assert(BM * BK == block.x && BK * BN == block.x,
                "each thread loads one element of either tile");

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g) {
    __shared__ Out As[BM][BK];
    __shared__ Out Bs[BK][BN];

    // place
    const cuda::TileCoord tile = cuda::tile_of_block<BM, BN>(g);
    const unsigned thread_row = threadIdx.x / BN * TM;
    const unsigned thread_col = threadIdx.x % BN;
    const unsigned a_row = threadIdx.x / BK;
    const unsigned a_col = threadIdx.x % BK;
    const unsigned b_row = threadIdx.x / BN;
    const unsigned b_col = threadIdx.x % BN;

    Out acc[TM] = {};
    for (std::int64_t k0 = 0; k0 < g.k; k0 += BK) {
      // load: zeros out of bounds; 16-bit elements are widened here, once
      As[a_row][a_col] = tile.row + a_row < g.m && k0 + a_col < g.k
                             ? static_cast<Out>(g.a(tile.row + a_row, k0 + a_col))
                             : Out{};
      Bs[b_row][b_col] = k0 + b_row < g.k && tile.col + b_col < g.n
                             ? static_cast<Out>(g.b(k0 + b_row, tile.col + b_col))
                             : Out{};

      // sync: the tiles are complete
      __syncthreads();

      // multiply
      for (int k = 0; k < BK; ++k) {
        const Out b_frag = Bs[k][thread_col];
        RUNG_UNROLL
        for (int i = 0; i < TM; ++i) acc[i] += As[thread_row + i][k] * b_frag;
      }

      // sync: all reads of the tiles are done
      __syncthreads();
    }

    // store
    const std::int64_t col = tile.col + thread_col;
    RUNG_UNROLL
    for (int i = 0; i < TM; ++i) {
      const std::int64_t row = tile.row + thread_row + i;
      if (row < g.m && col < g.n) cuda::store(g, row, col, acc[i]);
    }
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g) {
    return {.grid = {cuda::tiles_of_c<BM, BN>(g)}, .block = block};
  }
};

}  // namespace

RUNG_CUDA_GEMM(03_thread_column, ThreadColumn, f32, f64, i32, bf16, f16)

}  // namespace rung
