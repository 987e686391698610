// gemm/cuda/batched_mma_f64: batches and ragged groups of double products on tensor cores, with the
//   instruction of mma_f64_warp_specialized and tiles that keep the layout of global memory in
//   shared memory.
// from: small_matrices | removes: the FMA pipe, which has half the f64 rate of the tensor cores |
//   bottleneck: device memory up to 32 rows; then the latency of copies, which few resident blocks
//   hide
// needs: sm_90 | try: rung bench gemm/cuda/small_matrices gemm/cuda/batched_mma_f64 --dtype f64
//   --batch 2000 --sizes 64

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/load/operand_copy.cuh"
#include "device/cuda/ptx/mma.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/tile/ragged_tile.cuh"
#include "device/cuda/tile/thread_group.cuh"
#include "device/cuda/tile/warps.cuh"

namespace rung {
namespace {

/// A block computes SIZE x SIZE elements of C, a warp WM x WN of them.
template <int SIZE, int WM, int WN, int STAGES, int BLOCKS>
struct BatchedMma {
  static constexpr int BM = SIZE;
  static constexpr int BN = SIZE;
  static constexpr int BK = 16;
  static constexpr int FRAGS_M = WM / 16;  // one mma is m16n8k8
  static constexpr int FRAGS_N = WN / 8;
  using Warps = cuda::Warps<BM, BN, WM, WN>;
  static constexpr int THREADS = Warps::THREADS;
  static constexpr int MIN_BLOCKS_PER_SM = BLOCKS;
  using Block = cuda::ThreadGroup<THREADS, THREADS>;
  // Half a warp reads four neighbours of each of four lines at a time, without bank conflicts.
  using Copy = cuda::OperandCopy<double, SIZE, BK, Block, 4>;

  struct Shared {
    alignas(16) double As[STAGES][Copy::TILE];
    alignas(16) double Bs[STAGES][Copy::TILE];
  };

  static __device__ __forceinline__ void kernel(const Gemm<double, double>& first,
                                                const cuda::Products& products) {
    auto& [As, Bs] = cuda::dynamic_shared<Shared>();

    // place
    const auto [g, tile] = cuda::product_tile<BM, BN, Block, true>(first, products);
    const int lane = Warps::lane();

    // load: issue the first tiles; those after the last one are zeros, so that one commit group is
    // one tile
    Copy a_copy(cuda::operand_a(g), tile.row);
    Copy b_copy(cuda::operand_b(g), tile.col);
    const auto copy_next = [&](int stage) RUNG_INLINE_LAMBDA {
      a_copy.start(As[stage]);
      b_copy.start(Bs[stage]);
      ptx::cp_async_commit_group();
    };
    RUNG_NO_UNROLL
    for (int stage = 0; stage < STAGES - 1; ++stage) copy_next(stage);

    const int a_first =
        (Warps::row() + lane / 4) * a_copy.extent_stride() + lane % 4 * a_copy.k_stride();
    const int b_first =
        (Warps::col() + lane / 4) * b_copy.extent_stride() + lane % 4 * b_copy.k_stride();
    double acc[FRAGS_M][FRAGS_N][4] = {};
    int now = 0;
    for (std::int64_t k0 = 0; k0 < g.k; k0 += BK) {
      // sync: the tiles have arrived, and all reads of the previous ones are done
      ptx::cp_async_wait_group<STAGES - 2>();
      __syncthreads();
      copy_next(now == 0 ? STAGES - 1 : now - 1);

      // multiply
      const double* a = As[now] + a_first;
      const double* b = Bs[now] + b_first;
      RUNG_UNROLL
      for (int k = 0; k < BK; k += 8) {
        double b_frag[FRAGS_N][2];
        RUNG_UNROLL
        for (int j = 0; j < FRAGS_N; ++j) {
          RUNG_UNROLL
          for (int half = 0; half < 2; ++half) {
            b_frag[j][half] = b[j * 8 * b_copy.extent_stride() + half * 4 * b_copy.k_stride()];
          }
        }
        RUNG_UNROLL
        for (int i = 0; i < FRAGS_M; ++i) {
          double a_frag[4];  // rows l / 4 and l / 4 + 8 of step l % 4, then of step l % 4 + 4
          RUNG_UNROLL
          for (int part = 0; part < 4; ++part) {
            a_frag[part] = a[(i * 16 + part % 2 * 8) * a_copy.extent_stride() +
                             part / 2 * 4 * a_copy.k_stride()];
          }
          RUNG_UNROLL
          for (int j = 0; j < FRAGS_N; ++j) ptx::mma_m16n8k8(acc[i][j], a_frag, b_frag[j]);
        }
        a += 8 * a_copy.k_stride();
        b += 8 * b_copy.k_stride();
      }
      now = now == STAGES - 1 ? 0 : now + 1;
    }

    // store
    RUNG_UNROLL
    for (int i = 0; i < FRAGS_M; ++i) {
      RUNG_UNROLL
      for (int j = 0; j < FRAGS_N; ++j) {
        cuda::store_m16n8(g, tile.row + Warps::row() + i * 16, tile.col + Warps::col() + j * 8,
                          acc[i][j]);
      }
    }
  }

  template <class, class>
  static constexpr cuda::TileShape shape() {
    return {BM, BN, BK, THREADS, sizeof(Shared), 1, WM, WN};
  }

  static cuda::Launch launch(const Gemm<double, double>& g, const cuda::GemmConfig&) {
    return {.grid = {cuda::tiles_of_c<BM, BN>(g)},
            .block = {THREADS},
            .shared_bytes = sizeof(Shared),
            .products_per_block = 1};
  }

  /// Expected time of a product in whole tiles, from the rates measured on a full H200.
  static constexpr double time(const Gemm<double, double>& g) {
    constexpr double of_result = SIZE == 32 ? 4.0 / 3 : SIZE == 48 ? 1.2 : 1.0;
    return of_result * static_cast<double>(cuda::tiles_of_c<BM, BN>(g) * BM * BN);
  }

  static cuda::GemmConfig choose(const Gemm<double, double>& g, int multiprocessors);
};

//                           SIZE WM  WN STAGES BLOCKS
using ThirtyTwo = BatchedMma<32, 16, 16, 3, 6>;
using SixtyFour = BatchedMma<64, 32, 32, 3, 3>;
using FortyEight = BatchedMma<48, 16, 48, 3, 4>;

template <int SIZE, int WM, int WN, int STAGES, int BLOCKS>
cuda::GemmConfig BatchedMma<SIZE, WM, WN, STAGES, BLOCKS>::choose(const Gemm<double, double>& g,
                                                                  int /*multiprocessors*/) {
  const double times[] = {ThirtyTwo::time(g), SixtyFour::time(g), FortyEight::time(g)};
  int best = 0;
  for (int tile = 1; tile < 3; ++tile) {
    if (times[tile] < times[best]) best = tile;
  }
  return {.tile = best};
}

}  // namespace

RUNG_CUDA_GEMM_TILES(batched_mma_f64, (0, ThirtyTwo, f64), (1, SixtyFour, f64),
                     (2, FortyEight, f64))

}  // namespace rung
