// gemm/cuda/mma_f64: double precision on tensor cores: mma.sync on fragments of f64.
// from: fma_tiles | removes: the FMA pipe, which has half the f64 rate of the tensor cores |
//   bottleneck: the issue rate of instructions of 8 x 8 x 4 elements
// needs: sm_80 | try: rung trace gemm/cuda/mma_f64

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/split_k.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/load/f64_loader.cuh"
#include "device/cuda/ptx/mma.cuh"
#include "device/cuda/tile/f64_tile.cuh"
#include "device/cuda/tile/fragment.cuh"
#include "device/cuda/tile/warps.cuh"

namespace rung {
namespace {

template <int BM, int BN, int WM, int WN, int STAGES, int BLOCKS>
struct Mma {
  static constexpr int BK = 16;
  using Warps = cuda::Warps<BM, BN, WM, WN>;
  static constexpr int THREADS = Warps::THREADS;
  static constexpr int MIN_BLOCKS_PER_SM = BLOCKS;
  static constexpr unsigned GROUP = 8;    // tile rows per swizzle group
  static constexpr int FRAGS_M = WM / 8;  // one mma is m8n8k4
  static constexpr int FRAGS_N = WN / 8;
  using Rows = cuda::Fragment<FRAGS_M, 8, 1>;  // of a thread, within a warp's tile
  using Cols = cuda::Fragment<2 * FRAGS_N, 4, 2>;
  using Sums = double[FRAGS_M][2 * FRAGS_N];

  static_assert(Warps::THREADS / 32 * 8 * WN <= STAGES * BM * BK, "staging fits in As");

  struct Shared {
    alignas(128) double As[STAGES][BM * BK];
    alignas(128) double Bs[STAGES][BN * BK];
  };

  static __device__ __forceinline__ void kernel(const Gemm<double, double>& g,
                                                const cuda::SplitK& split_k) {
    // place
    const cuda::BlockWork work = cuda::block_work(split_k);
    const cuda::TileCoord tile = cuda::grouped_tile<BM, BN>(g, work.tile, GROUP);

    Sums acc = {};
    cuda::with_layouts(g, [&]<bool A_K_MAJOR, bool B_K_MAJOR>() RUNG_INLINE_LAMBDA {
      multiply<A_K_MAJOR, B_K_MAJOR>(g, work, tile, acc);
    });

    // store
    const int lane = Warps::lane();
    cuda::store_or_split<Rows, Cols, THREADS, 8, WN>(
        g, split_k.workspace, work, tile.row + Warps::row(), tile.col + Warps::col(), lane / 4,
        lane % 4, acc, [&]() RUNG_INLINE_LAMBDA {
          // sync: all reads of the tiles are done, and so are the copies after the last tile,
          // which are zeros; the memory has room for a row of each thread
          ptx::cp_async_wait_group<0>();
          __syncthreads();
          return cuda::dynamic_shared<Shared>().As[0] + Warps::warp() * 8 * WN;
        });
  }

  /// acc += the warp's rows of A times its columns of B, over this part of k.
  template <bool A_K_MAJOR, bool B_K_MAJOR>
  static __device__ __forceinline__ void multiply(const Gemm<double, double>& g,
                                                  const cuda::BlockWork& work,
                                                  const cuda::TileCoord& tile, Sums& acc) {
    const cuda::F64Reader<BM, BK, A_K_MAJOR> a_reader(Warps::row());
    const cuda::F64Reader<BN, BK, B_K_MAJOR> b_reader(Warps::col());
    auto& [As, Bs] = cuda::dynamic_shared<Shared>();
    const cuda::KRange range = cuda::part_of_k<BK>(g.k, work.parts, work.part);

    // load: issue the first tiles; those after the last one are zeros, so that one commit group is
    // one tile
    cuda::F64TileLoader<BM, BK, A_K_MAJOR, THREADS> a_tile(cuda::operand_a(g), tile.row, range,
                                                           static_cast<int>(threadIdx.x));
    cuda::F64TileLoader<BN, BK, B_K_MAJOR, THREADS> b_tile(cuda::operand_b(g), tile.col, range,
                                                           static_cast<int>(threadIdx.x));
    RUNG_UNROLL
    for (int stage = 0; stage < STAGES - 1; ++stage) {
      a_tile.copy(As[stage]);
      b_tile.copy(Bs[stage]);
      ptx::cp_async_commit_group();
    }

    int now = 0;
    for (std::int64_t k0 = range.begin; k0 < range.end; k0 += BK) {
      // sync: this thread's copies have arrived, then those of all threads; all reads of the
      // previous tiles are done, so their buffer can be overwritten
      ptx::cp_async_wait_group<STAGES - 2>();
      __syncthreads();

      // load: issue the next tiles
      const int next = now == 0 ? STAGES - 1 : now - 1;
      a_tile.copy(As[next]);
      b_tile.copy(Bs[next]);
      ptx::cp_async_commit_group();

      // multiply
      RUNG_UNROLL
      for (int k = 0; k < BK; k += 4) {
        double b[FRAGS_N];
        RUNG_UNROLL
        for (int j = 0; j < FRAGS_N; ++j) b[j] = b_reader(Bs[now], j * 8, k);
        RUNG_UNROLL
        for (int i = 0; i < FRAGS_M; ++i) {
          const double a = a_reader(As[now], i * 8, k);
          RUNG_UNROLL
          for (int j = 0; j < FRAGS_N; ++j) {
            ptx::mma_m8n8k4(acc[i][2 * j], acc[i][2 * j + 1], a, b[j]);
          }
        }
      }
      now = now == STAGES - 1 ? 0 : now + 1;
    }
  }

  static __device__ __forceinline__ bool has_fast_copies(const Gemm<double, double>& g) {
    return cuda::operand_a(g).is_aligned() && cuda::operand_b(g).is_aligned();
  }

  template <class, class>
  static constexpr cuda::TileShape shape() {
    return {BM, BN, BK, THREADS, sizeof(Shared), 1, WM, WN};
  }

  static cuda::Launch launch(const Gemm<double, double>& g, const cuda::GemmConfig& chosen) {
    const std::int64_t tiles = cuda::tiles_of_c<BM, BN>(g);
    return {.grid = {cuda::blocks_of(tiles, chosen)},
            .block = {THREADS},
            .shared_bytes = sizeof(Shared),
            .workspace_bytes = cuda::split_bytes<double>(tiles, BM * BN, chosen)};
  }
};

//                 BM   BN   WM  WN  STAGES BLOCKS
using Large = Mma<128, 128, 64, 32, 4, 1>;
using Medium = Mma<64, 128, 64, 32, 4, 2>;
using Small = Mma<64, 64, 32, 32, 3, 3>;
using Smallest = Mma<32, 32, 16, 16, 4, 4>;

}  // namespace

RUNG_CUDA_GEMM_TILES(mma_f64, (0, Large, f64), (1, Medium, f64), (2, Small, f64),
                     (3, Smallest, f64))

}  // namespace rung
