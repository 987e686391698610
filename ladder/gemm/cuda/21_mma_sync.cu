// gemm/cuda/21_mma_sync: mma.sync, whose fragment layout is specified: ldmatrix loads four 8 x 8
//   matrices at once from padded rows, transposed where needed, and results go straight to C.
// from: 20_wmma | removes: element-wise transposes, half of the loads, and the staging of results
//   in shared memory | bottleneck: load latency is exposed; no loads are in flight during the
//   multiply
// needs: sm_80 | try: rung trace gemm/cuda/21

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/load/tile_loader.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/tile/padded_tile.cuh"
#include "device/cuda/tile/warps.cuh"

namespace rung {
namespace {

struct MmaSync {
  static constexpr int BM = 128;
  static constexpr int BN = 128;
  static constexpr int BK = 32;
  static constexpr int WM = 64;
  static constexpr int WN = 32;
  static constexpr int FRAGS_M = WM / 16;  // one mma is m16n8k16
  static constexpr int FRAGS_N = WN / 8;
  using Warps = cuda::Warps<BM, BN, WM, WN>;
  static constexpr int THREADS = Warps::THREADS;
  static constexpr cuda::Dim3 block = {THREADS};
  static constexpr int MIN_BLOCKS_PER_SM = 1;

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g) {
    alignas(16) __shared__ In As[cuda::padded_size<BM, BK>];
    alignas(16) __shared__ In Bs[cuda::padded_size<BN, BK>];

    // place
    const cuda::TileCoord tile = cuda::tile_of_block<BM, BN>(g);
    const int warp_row = Warps::row();
    const int warp_col = Warps::col();

    Out acc[FRAGS_M][FRAGS_N][4] = {};
    cuda::with_layouts(g, [&]<bool A_K_MAJOR, bool B_K_MAJOR>() RUNG_INLINE_LAMBDA {
      multiply<A_K_MAJOR, B_K_MAJOR>(g, tile, warp_row, warp_col, As, Bs, acc);
    });

    // store
    RUNG_UNROLL
    for (int i = 0; i < FRAGS_M; ++i) {
      RUNG_UNROLL
      for (int j = 0; j < FRAGS_N; ++j) {
        cuda::store_m16n8(g, tile.row + warp_row + i * 16, tile.col + warp_col + j * 8, acc[i][j]);
      }
    }
  }

  /// acc += the warp's rows of A times its columns of B.
  template <bool A_K_MAJOR, bool B_K_MAJOR, class In, class Out>
  static __device__ __forceinline__ void multiply(const Gemm<In, Out>& g,
                                                  const cuda::TileCoord& tile, int warp_row,
                                                  int warp_col, In* As, In* Bs,
                                                  Out (&acc)[FRAGS_M][FRAGS_N][4]) {
    using ATile = cuda::PaddedTile<BM, BK, A_K_MAJOR>;
    using BTile = cuda::PaddedTile<BN, BK, B_K_MAJOR>;
    cuda::TileLoader<In, ATile, THREADS> a_tile(cuda::operand_a(g), tile.row);
    cuda::TileLoader<In, BTile, THREADS> b_tile(cuda::operand_b(g), tile.col);
    for (std::int64_t k0 = 0; k0 < g.k; k0 += BK) {
      // load
      a_tile.load(k0);
      b_tile.load(k0);
      a_tile.store(As);
      b_tile.store(Bs);

      // sync: the tiles are complete
      __syncthreads();

      // multiply
      RUNG_UNROLL
      for (int k = 0; k < BK; k += 16) {
        std::uint32_t a_frag[FRAGS_M][4];
        std::uint32_t b_frag[FRAGS_N / 2][4];
        RUNG_UNROLL
        for (int i = 0; i < FRAGS_M; ++i) {
          ATile::template load_fragments<true>(a_frag[i], ptx::cvta_to_shared(As),
                                               warp_row + i * 16, k);
        }
        RUNG_UNROLL
        for (int j = 0; j < FRAGS_N / 2; ++j) {
          BTile::template load_fragments<false>(b_frag[j], ptx::cvta_to_shared(Bs),
                                                warp_col + j * 16, k);
        }
        RUNG_UNROLL
        for (int i = 0; i < FRAGS_M; ++i) {
          RUNG_UNROLL
          for (int j = 0; j < FRAGS_N; ++j) {
            ptx::mma_m16n8k16<In>(acc[i][j], a_frag[i], &b_frag[j / 2][j % 2 * 2]);
          }
        }
      }

      // sync: all reads of the tiles are done
      __syncthreads();
    }
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g) {
    return {.grid = {cuda::tiles_of_c<BM, BN>(g)}, .block = block};
  }
};

}  // namespace

RUNG_CUDA_GEMM(21_mma_sync, MmaSync, bf16, f16)

}  // namespace rung
