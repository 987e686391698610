// gemm/cuda/20_wmma: tensor cores: a warp multiplies 16 x 16 matrices in one wmma instruction.
// from: 07_warp_tile | removes: FMAs issued thread by thread | bottleneck: 8-byte loads through
//   registers and element-wise transposes; the fragment layout is unspecified, so results go
//   through shared memory
// needs: sm_80 | try: rung trace gemm/cuda/20

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/load/staged_tile.cuh"
#include "device/cuda/ptx/mma.cuh"
#include "device/cuda/tile/warps.cuh"

namespace rung {
namespace {

struct Wmma {
  static constexpr int BM = 128;
  static constexpr int BN = 128;
  static constexpr int BK = 32;
  static constexpr int WM = 64;
  static constexpr int WN = 32;
  static constexpr int FRAG = 16;  // m, n and k of one instruction
  static constexpr int FRAGS_M = WM / FRAG;
  static constexpr int FRAGS_N = WN / FRAG;
  using Warps = cuda::Warps<BM, BN, WM, WN>;
  static constexpr int THREADS = Warps::THREADS;
  static constexpr cuda::Dim3 block = {THREADS};
  static constexpr int MIN_BLOCKS_PER_SM = 1;

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g) {
    constexpr int LDA = BM + 8;
    constexpr int LDB = BN + 8;
    constexpr int LDC = FRAG + 4;
    alignas(32) __shared__ In As[BK][LDA];
    alignas(32) __shared__ In Bs[BK][LDB];
    alignas(32) __shared__ Out Cs[THREADS / 32][2][FRAG][LDC];

    // place
    const cuda::TileCoord tile = cuda::tile_of_block<BM, BN>(g);
    const int warp_row = Warps::row();
    const int warp_col = Warps::col();

    cuda::StagedTile<In, In, BM, BK, LDA, THREADS> a_tile;
    cuda::StagedTile<In, In, BN, BK, LDB, THREADS> b_tile;
    ptx::WmmaSums acc[FRAGS_M][FRAGS_N] = {};
    for (std::int64_t k0 = 0; k0 < g.k; k0 += BK) {
      // load
      a_tile.load(cuda::operand_a(g), tile.row, k0);
      b_tile.load(cuda::operand_b(g), tile.col, k0);
      a_tile.store(As[0]);
      b_tile.store(Bs[0]);

      // sync: the tiles are complete
      __syncthreads();

      // multiply
      RUNG_UNROLL
      for (int k = 0; k < BK; k += FRAG) {
        ptx::WmmaFragment<In> a_frag[FRAGS_M];
        ptx::WmmaFragment<In> b_frag[FRAGS_N];
        RUNG_UNROLL
        for (int i = 0; i < FRAGS_M; ++i) {
          ptx::wmma_load_a_col(a_frag[i], ptx::cvta_to_shared(&As[k][warp_row + i * FRAG]), LDA);
        }
        RUNG_UNROLL
        for (int j = 0; j < FRAGS_N; ++j) {
          ptx::wmma_load_b_row(b_frag[j], ptx::cvta_to_shared(&Bs[k][warp_col + j * FRAG]), LDB);
        }
        RUNG_UNROLL
        for (int i = 0; i < FRAGS_M; ++i) {
          RUNG_UNROLL
          for (int j = 0; j < FRAGS_N; ++j) ptx::wmma_mma_col_row(acc[i][j], a_frag[i], b_frag[j]);
        }
      }

      // sync: all reads of the tiles are done
      __syncthreads();
    }

    // store: through shared memory of the warp's own, four results of a row per lane. It is double
    // buffered, so that no lane overwrites what another still reads.
    constexpr int LANES = FRAG / 4;
    const int lane_row = Warps::lane() / LANES;
    const int lane_col = Warps::lane() % LANES * 4;
    RUNG_UNROLL
    for (int i = 0; i < FRAGS_M; ++i) {
      RUNG_UNROLL
      for (int j = 0; j < FRAGS_N; ++j) {
        auto& staged = Cs[Warps::warp()][j % 2];
        ptx::wmma_store_d_row(ptx::cvta_to_shared(&staged[0][0]), acc[i][j], LDC);
        ptx::bar_warp_sync();
        for (int row = lane_row; row < FRAG; row += 32 / LANES) {
          cuda::store_vector(g, tile.row + warp_row + i * FRAG + row,
                             tile.col + warp_col + j * FRAG + lane_col, &staged[row][lane_col]);
        }
      }
    }
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g) {
    return {.grid = {cuda::tiles_of_c<BM, BN>(g)}, .block = block};
  }
};

}  // namespace

RUNG_CUDA_GEMM(20_wmma, Wmma, bf16, f16)

}  // namespace rung
