// gemm/cuda/22_stages: multistage cp.async pipeline: several tiles are in flight to shared memory
//   while tensor cores multiply the current one.
// from: 21_mma_sync | removes: the stall on global memory in each k-block, and one of two barriers
//   | bottleneck: every fragment passes through registers, and every warp issues its own copies
// needs: sm_80 | try: rung trace gemm/cuda/22

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/load/tile_loader.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/tile/padded_tile.cuh"
#include "device/cuda/tile/warps.cuh"

namespace rung {
namespace {

struct Stages {
  static constexpr int BM = 128;
  static constexpr int BN = 128;
  static constexpr int BK = 32;
  static constexpr int WM = 64;
  static constexpr int WN = 32;
  static constexpr int FRAGS_M = WM / 16;  // one mma is m16n8k16
  static constexpr int FRAGS_N = WN / 8;
  static constexpr int STAGES = 4;
  static constexpr unsigned GROUP = 8;  // tile rows per swizzle group
  using Warps = cuda::Warps<BM, BN, WM, WN>;
  static constexpr int THREADS = Warps::THREADS;
  static constexpr cuda::Dim3 block = {THREADS};
  static constexpr int MIN_BLOCKS_PER_SM = 1;

  template <class In>
  struct Shared {
    alignas(16) In As[STAGES][cuda::padded_size<BM, BK>];
    alignas(16) In Bs[STAGES][cuda::padded_size<BN, BK>];
  };

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g) {
    // place
    const cuda::TileCoord tile = cuda::grouped_tile<BM, BN>(g, blockIdx.x, GROUP);
    const int warp_row = Warps::row();
    const int warp_col = Warps::col();

    Scalar<Out> acc[FRAGS_M][FRAGS_N][4] = {};
    cuda::with_layouts(g, [&]<bool A_K_MAJOR, bool B_K_MAJOR>() RUNG_INLINE_LAMBDA {
      multiply<A_K_MAJOR, B_K_MAJOR>(g, tile, warp_row, warp_col, acc);
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
                                                  int warp_col,
                                                  Scalar<Out> (&acc)[FRAGS_M][FRAGS_N][4]) {
    using ATile = cuda::PaddedTile<BM, BK, A_K_MAJOR>;
    using BTile = cuda::PaddedTile<BN, BK, B_K_MAJOR>;
    auto& [As, Bs] = cuda::dynamic_shared<Shared<In>>();

    // load: issue the first tiles; those after the last one are zeros, so that one commit group is
    // one tile
    const cuda::TileLoader<In, ATile, THREADS> a_tile(cuda::operand_a(g), tile.row);
    const cuda::TileLoader<In, BTile, THREADS> b_tile(cuda::operand_b(g), tile.col);
    RUNG_UNROLL
    for (int stage = 0; stage < STAGES - 1; ++stage) {
      a_tile.copy(As[stage], stage * BK);
      b_tile.copy(Bs[stage], stage * BK);
      ptx::cp_async_commit_group();
    }

    int now = 0;
    for (std::int64_t k0 = 0; k0 < g.k; k0 += BK) {
      // sync: this thread's copies have arrived, then those of all threads; all reads of the
      // previous tiles are done, so their buffer can be overwritten
      ptx::cp_async_wait_group<STAGES - 2>();
      __syncthreads();

      // load: issue the next tiles
      const int next = now == 0 ? STAGES - 1 : now - 1;
      a_tile.copy(As[next], k0 + (STAGES - 1) * BK);
      b_tile.copy(Bs[next], k0 + (STAGES - 1) * BK);
      ptx::cp_async_commit_group();

      // multiply
      RUNG_UNROLL
      for (int k = 0; k < BK; k += 16) {
        std::uint32_t a_frag[FRAGS_M][4];
        std::uint32_t b_frag[FRAGS_N / 2][4];
        RUNG_UNROLL
        for (int i = 0; i < FRAGS_M; ++i) {
          ATile::template load_fragments<true>(a_frag[i], ptx::cvta_to_shared(As[now]),
                                               warp_row + i * 16, k);
        }
        RUNG_UNROLL
        for (int j = 0; j < FRAGS_N / 2; ++j) {
          BTile::template load_fragments<false>(b_frag[j], ptx::cvta_to_shared(Bs[now]),
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
      now = now == STAGES - 1 ? 0 : now + 1;
    }
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g) {
    return {
        .grid = {cuda::tiles_of_c<BM, BN>(g)}, .block = block, .shared_bytes = sizeof(Shared<In>)};
  }
};

}  // namespace

RUNG_CUDA_GEMM(22_stages, Stages, bf16, f16, bf16_bf16, f16_f16)

}  // namespace rung
