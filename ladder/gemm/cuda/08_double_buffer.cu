// gemm/cuda/08_double_buffer: double buffering: while one pair of shared tiles is multiplied, the
//   next pair is loaded into registers, then stored to the other buffer.
// from: 07_warp_tile | removes: the stall on global memory between tiles, and one of two barriers
//   | bottleneck: registers, which hold the loads in flight, allow prefetching of only one tile
// needs: nothing | try: rung trace gemm/cuda/08

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/load/staged_tile.cuh"
#include "device/cuda/tile/fragment.cuh"
#include "device/cuda/tile/warp_tile.cuh"

namespace rung {
namespace {

struct DoubleBuffer {
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
    alignas(16) __shared__ Out As[2][BK][LDA];
    alignas(16) __shared__ Out Bs[2][BK][LDB];

    // place
    const cuda::TileCoord tile = cuda::tile_of_block<BM, BN>(g);
    const int thread_row = Warps::warp_row() + Rows::first(Warps::lane_row());
    const int thread_col = Warps::warp_col() + Cols::first(Warps::lane_col());

    // load: the first tiles
    cuda::StagedTile<In, Out, BM, BK, LDA, THREADS> a_tile;
    cuda::StagedTile<In, Out, BN, BK, LDB, THREADS> b_tile;
    a_tile.load(cuda::operand_a(g), tile.row, 0);
    b_tile.load(cuda::operand_b(g), tile.col, 0);
    a_tile.store(As[0][0]);
    b_tile.store(Bs[0][0]);

    Out acc[TM][TN] = {};
    int now = 0;
    for (std::int64_t k0 = 0; k0 < g.k; k0 += BK) {
      // sync: these tiles are complete, and all reads of the previous ones are done
      __syncthreads();

      // load: issue the next tiles
      const bool more = k0 + BK < g.k;
      if (more) {
        a_tile.load(cuda::operand_a(g), tile.row, k0 + BK);
        b_tile.load(cuda::operand_b(g), tile.col, k0 + BK);
      }

      // multiply
      for (int k = 0; k < BK; ++k) {
        Out a_frag[TM];
        Out b_frag[TN];
        Rows::load(a_frag, &As[now][k][thread_row]);
        Cols::load(b_frag, &Bs[now][k][thread_col]);
        RUNG_UNROLL
        for (int i = 0; i < TM; ++i) {
          RUNG_UNROLL
          for (int j = 0; j < TN; ++j) acc[i][j] += a_frag[i] * b_frag[j];
        }
      }

      // load: move them to shared memory
      now = 1 - now;
      if (more) {
        a_tile.store(As[now][0]);
        b_tile.store(Bs[now][0]);
      }
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

RUNG_CUDA_GEMM(08_double_buffer, DoubleBuffer, f32, f64, i32, bf16, f16)

}  // namespace rung
