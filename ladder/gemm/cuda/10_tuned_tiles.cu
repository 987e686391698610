// gemm/cuda/10_tuned_tiles: autotuned tile sizes, chosen per shape and device; thread-block swizzle
//   for L2 reuse; fragments are loaded one k-step ahead of the FMAs.
// from: 09_async_copies | removes: the shared-memory stall in each k-step, and tiles that fit
//   neither the matrix nor the device | bottleneck: with few tiles, SMs are idle
// needs: sm_80 | try: rung trace gemm/cuda/10

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/load/async_tile.cuh"
#include "device/cuda/tile/fragment.cuh"
#include "device/cuda/tile/warp_tile.cuh"

namespace rung {
namespace {

template <int BM, int BN, int BK, int WM, int WN, int TM, int TN, int STAGES>
struct TunedTile {
  using Warps = cuda::WarpTile<BM, BN, WM, WN, TM, TN>;
  static constexpr int THREADS = Warps::THREADS;
  static constexpr int MIN_BLOCKS_PER_SM = 1;
  static constexpr unsigned GROUP = 8;  // tile rows per swizzle group
  static_assert(BK % 2 == 0, "a tile's first fragments lie in the first of two buffers");

  template <class T>
  struct Shared {
    static constexpr int W = cuda::vector_width<T>;
    static constexpr int LDA = BM + W;
    static constexpr int LDB = BN + W;
    alignas(16) T As[STAGES][BK][LDA];
    alignas(16) T Bs[STAGES][BK][LDB];
  };

  template <class T>
  static __device__ __forceinline__ void kernel(const Gemm<T, T>& g) {
    using enum cuda::Way;
    if (cuda::can_copy<k_major>(cuda::operand_a(g)) &&
        cuda::can_copy<vectors>(cuda::operand_b(g))) {
      kernel<T, k_major, vectors>(g);
    } else {
      kernel<T, any, any>(g);
    }
  }

  template <class T, cuda::Way WAY_A, cuda::Way WAY_B>
  static __device__ __forceinline__ void kernel(const Gemm<T, T>& g) {
    using Tiles = Shared<T>;
    using Rows = cuda::Fragment<TM, Warps::LANES_M, Tiles::W>;
    using Cols = cuda::Fragment<TN, Warps::LANES_N, Tiles::W>;
    auto& [As, Bs] = cuda::dynamic_shared<Tiles>();

    // place
    const cuda::TileCoord tile = cuda::grouped_tile<BM, BN>(g, blockIdx.x, GROUP);
    const int thread_row = Warps::warp_row() + Rows::first(Warps::lane_row());
    const int thread_col = Warps::warp_col() + Cols::first(Warps::lane_col());

    // load: issue the first tiles; those after k are zeros, so that one commit group is one tile
    cuda::AsyncTile<T, BM, BK, Tiles::LDA, THREADS, WAY_A> a_tile(cuda::operand_a(g), tile.row, 0,
                                                                  As);
    cuda::AsyncTile<T, BN, BK, Tiles::LDB, THREADS, WAY_B> b_tile(cuda::operand_b(g), tile.col, 0,
                                                                  Bs);
    const cuda::KTiles<BK> tiles(g.k);
    a_tile.copy_first(tiles.first);
    b_tile.copy_first(tiles.first);
    ptx::cp_async_commit_group();
    RUNG_UNROLL
    for (int stage = 1; stage < STAGES - 1; ++stage) {
      a_tile.copy(stage, stage < tiles.count);
      b_tile.copy(stage, stage < tiles.count);
      ptx::cp_async_commit_group();
    }

    // sync: wait for the first tiles
    ptx::cp_async_wait_group<STAGES - 2>();
    __syncthreads();

    T acc[TM][TN] = {};
    T a_frag[2][TM];
    T b_frag[2][TN];
    Rows::load(a_frag[0], &As[0][0][thread_row]);
    Cols::load(b_frag[0], &Bs[0][0][thread_col]);
    int now = 0;
    for (int left = tiles.count; left > 0; --left) {
      // load: issue a tile STAGES - 1 ahead, into the buffer of the previous tile
      const int next = now == 0 ? STAGES - 1 : now - 1;
      a_tile.copy(next, left >= STAGES);
      b_tile.copy(next, left >= STAGES);
      ptx::cp_async_commit_group();

      // multiply, while the fragments of the next k-step are loaded
      RUNG_UNROLL
      for (int k = 0; k < BK - 1; ++k) {
        Rows::load(a_frag[(k + 1) % 2], &As[now][k + 1][thread_row]);
        Cols::load(b_frag[(k + 1) % 2], &Bs[now][k + 1][thread_col]);
        cuda::add_outer_product(acc, a_frag[k % 2], b_frag[k % 2]);
      }

      // sync: the next tiles have arrived, and all reads of these are done
      ptx::cp_async_wait_group<STAGES - 2>();
      __syncthreads();

      // multiply: the last k-step, while the first fragments of the next tiles are loaded
      now = now == STAGES - 1 ? 0 : now + 1;
      Rows::load(a_frag[0], &As[now][0][thread_row]);
      Cols::load(b_frag[0], &Bs[now][0][thread_col]);
      cuda::add_outer_product(acc, a_frag[1], b_frag[1]);
    }

    // store
    cuda::store_tile<Rows, Cols>(g, tile.row + thread_row, tile.col + thread_col, acc);
  }

  template <class T, class>
  static constexpr cuda::TileShape shape() {
    return {BM, BN, BK, THREADS, sizeof(Shared<T>), 1, WM, WN, TM, TN};
  }

  template <class T>
  static cuda::Launch launch(const Gemm<T, T>& g, const cuda::GemmConfig&) {
    return {.grid = {cuda::tiles_of_c<BM, BN>(g)},
            .block = {THREADS},
            .shared_bytes = sizeof(Shared<T>)};
  }
};

// A double occupies two registers, so its tiles are smaller.
//                      BM   BN  BK  WM  WN  TM  TN  STAGES
using Large = TunedTile<128, 256, 8, 64, 64, 16, 8, 4>;
using Medium = TunedTile<64, 128, 16, 64, 32, 8, 8, 3>;
using Small = TunedTile<64, 64, 16, 32, 32, 8, 4, 4>;
using Doubles = TunedTile<64, 64, 16, 32, 32, 8, 4, 3>;

}  // namespace

// compiled by type: f32 f64 i32
RUNG_CUDA_GEMM_TILES(10_tuned_tiles, (0, Large, f32), (1, Medium, f32), (2, Small, f32),
                     (0, Doubles, f64), (0, Medium, i32), (1, Small, i32))

}  // namespace rung
