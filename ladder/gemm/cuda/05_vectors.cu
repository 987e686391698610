// gemm/cuda/05_vectors: vectorized accesses: 16 bytes each in global memory and, with the tile of A
//   transposed, in shared memory.
// from: 04_thread_tile | removes: one access per element: each access now moves four
//   | bottleneck: bank conflicts, where A is transposed and where neighbouring threads read B
// needs: nothing | try: rung trace gemm/cuda/05

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/load/staged_tile.cuh"

namespace rung {
namespace {

struct Vectors {
  static constexpr int BM = 128;
  static constexpr int BN = 128;
  static constexpr int BK = 8;
  static constexpr int TM = 8;
  static constexpr int TN = 8;
  static constexpr int THREADS = BM / TM * (BN / TN);
  static constexpr cuda::Dim3 block = {THREADS};

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g) {
    alignas(16) __shared__ Out As[BK][BM];
    alignas(16) __shared__ Out Bs[BK][BN];

    // place
    const cuda::TileCoord tile = cuda::tile_of_block<BM, BN>(g);
    const unsigned thread_row = threadIdx.x / (BN / TN) * TM;
    const unsigned thread_col = threadIdx.x % (BN / TN) * TN;

    cuda::StagedTile<In, Out, BM, BK, BM, THREADS> a_tile;
    cuda::StagedTile<In, Out, BN, BK, BN, THREADS> b_tile;
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
        cuda::load_vectors(a_frag, &As[k][thread_row]);
        cuda::load_vectors(b_frag, &Bs[k][thread_col]);
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
      for (int j = 0; j < TN; j += cuda::vector_width<Out>) {
        cuda::store_vector(g, tile.row + thread_row + i, tile.col + thread_col + j, &acc[i][j]);
      }
    }
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g) {
    return {.grid = {cuda::tiles_of_c<BM, BN>(g)}, .block = block};
  }
};

}  // namespace

RUNG_CUDA_GEMM(05_vectors, Vectors, f32, f64, i32, bf16, f16)

}  // namespace rung
