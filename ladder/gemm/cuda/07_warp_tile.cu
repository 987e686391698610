// gemm/cuda/07_warp_tile: warp tiling: each warp computes a 64 x 32 tile with its threads arranged
//   8 x 4, which is nearly square and so needs the fewest loads per result.
// from: 06_bank_free | removes: a third of the wavefronts of shared loads | bottleneck: load
//   latency is exposed; no loads are in flight during the multiply
// needs: nothing | try: rung trace gemm/cuda/07

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/load/staged_tile.cuh"
#include "device/cuda/tile/fragment.cuh"
#include "device/cuda/tile/warp_tile.cuh"

namespace rung {
namespace {

struct WarpTiles {
  static constexpr int BM = 128;
  static constexpr int BN = 128;
  static constexpr int BK = 8;
  static constexpr int WM = 64;
  static constexpr int WN = 32;
  static constexpr int TM = 8;
  static constexpr int TN = 8;
  using Warps = cuda::WarpTile<BM, BN, WM, WN, TM, TN>;
  static constexpr int THREADS = Warps::THREADS;
  static constexpr cuda::Dim3 block = {THREADS};

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g) {
    constexpr int W = cuda::vector_width<Out>;
    constexpr int LDA = BM + W;
    constexpr int LDB = BN + W;
    using Rows = cuda::Fragment<TM, Warps::LANES_M, W>;
    using Cols = cuda::Fragment<TN, Warps::LANES_N, W>;
    alignas(16) __shared__ Out As[BK][LDA];
    alignas(16) __shared__ Out Bs[BK][LDB];

    // place
    const cuda::TileCoord tile = cuda::tile_of_block<BM, BN>(g);
    const int thread_row = Warps::warp_row() + Rows::first(Warps::lane_row());
    const int thread_col = Warps::warp_col() + Cols::first(Warps::lane_col());

    cuda::StagedTile<In, Out, BM, BK, LDA, THREADS> a_tile;
    cuda::StagedTile<In, Out, BN, BK, LDB, THREADS> b_tile;
    Out acc[TM][TN] = {};
    for (std::int64_t k0 = 0; k0 < g.k; k0 += BK) {
      // load
      a_tile.load(cuda::operand_a(g), tile.row, k0);
      b_tile.load(cuda::operand_b(g), tile.col, k0);
      a_tile.store(As[0]);
      b_tile.store(Bs[0]);

      // sync: the tiles are complete
      __syncthreads();

      // multiply
      for (int k = 0; k < BK; ++k) {
        Out a_frag[TM];
        Out b_frag[TN];
        Rows::load(a_frag, &As[k][thread_row]);
        Cols::load(b_frag, &Bs[k][thread_col]);
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
    cuda::store_tile<Rows, Cols>(g, tile.row + thread_row, tile.col + thread_col, acc);
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g) {
    return {.grid = {cuda::tiles_of_c<BM, BN>(g)}, .block = block};
  }
};

}  // namespace

RUNG_CUDA_GEMM(07_warp_tile, WarpTiles, f32, f64, i32, bf16, f16)

}  // namespace rung
