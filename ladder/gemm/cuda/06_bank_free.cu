// gemm/cuda/06_bank_free: no bank conflicts: each thread owns columns in 16-byte vectors that
//   alternate with those of its neighbours, and rows of the transposed A are padded.
// from: 05_vectors | removes: bank conflicts of the loads from B and the stores to A
//   | bottleneck: a warp is a wide strip of 2 x 16 threads, which reuses little of what it reads
// needs: nothing | try: rung trace gemm/cuda/06

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/load/staged_tile.cuh"
#include "device/cuda/tile/fragment.cuh"

namespace rung {
namespace {

struct BankFree {
  static constexpr int BM = 128;
  static constexpr int BN = 128;
  static constexpr int BK = 8;
  static constexpr int TM = 8;
  static constexpr int TN = 8;
  static constexpr int THREADS = BM / TM * (BN / TN);
  static constexpr cuda::Dim3 block = {THREADS};

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g) {
    // Threads that transpose A store to rows 4 apart: padding each row by one vector moves them to
    // different banks.
    constexpr int W = cuda::vector_width<Out>;
    constexpr int LDA = BM + W;
    constexpr int LDB = BN + W;
    using Rows = cuda::Fragment<TM, BM / TM, W>;
    using Cols = cuda::Fragment<TN, BN / TN, W>;
    alignas(16) __shared__ Out As[BK][LDA];
    alignas(16) __shared__ Out Bs[BK][LDB];

    // place
    const cuda::TileCoord tile = cuda::tile_of_block<BM, BN>(g);
    const int thread_row = Rows::first(threadIdx.x / (BN / TN));
    const int thread_col = Cols::first(threadIdx.x % (BN / TN));

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

RUNG_CUDA_GEMM(06_bank_free, BankFree, f32, f64, i32, bf16, f16)

}  // namespace rung
