// gemm/cuda/09_async_copies: cp.async pipeline: copies to shared memory bypass the registers, and
//   several tiles are in flight at once.
// from: 08_double_buffer | removes: the registers that hold loads in flight, and the stall where
//   they are stored | bottleneck: one tile size for every shape, and too few threads to hide each
//   other's stalls; on sm_80 the kernel spills a register
// needs: sm_80 | try: rung trace gemm/cuda/09

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/load/async_tile.cuh"
#include "device/cuda/tile/fragment.cuh"
#include "device/cuda/tile/warp_tile.cuh"

namespace rung {
namespace {

struct AsyncCopies {
  static constexpr int BM = 128;
  static constexpr int BN = 128;
  static constexpr int BK = 8;
  static constexpr int WM = 64;
  static constexpr int WN = 32;
  static constexpr int TM = 8;
  static constexpr int TN = 8;
  static constexpr int STAGES = 4;
  using Warps = cuda::WarpTile<BM, BN, WM, WN, TM, TN>;
  static constexpr int THREADS = Warps::THREADS;
  static constexpr cuda::Dim3 block = {THREADS};

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
    const cuda::TileCoord tile = cuda::tile_of_block<BM, BN>(g);
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

    T acc[TM][TN] = {};
    int now = 0;
    for (int left = tiles.count; left > 0; --left) {
      // sync: this thread's copies have arrived, then those of all threads; all reads of the
      // previous tiles are done, so their buffer can be overwritten
      ptx::cp_async_wait_group<STAGES - 2>();
      __syncthreads();

      // load: issue the next tiles
      const int next = now == 0 ? STAGES - 1 : now - 1;
      a_tile.copy(next, left >= STAGES);
      b_tile.copy(next, left >= STAGES);
      ptx::cp_async_commit_group();

      // multiply
      for (int k = 0; k < BK; ++k) {
        T a_frag[TM];
        T b_frag[TN];
        Rows::load(a_frag, &As[now][k][thread_row]);
        Cols::load(b_frag, &Bs[now][k][thread_col]);
        RUNG_UNROLL
        for (int i = 0; i < TM; ++i) {
          RUNG_UNROLL
          for (int j = 0; j < TN; ++j) acc[i][j] += a_frag[i] * b_frag[j];
        }
      }
      now = now == STAGES - 1 ? 0 : now + 1;
    }

    // store
    cuda::store_tile<Rows, Cols>(g, tile.row + thread_row, tile.col + thread_col, acc);
  }

  template <class T>
  static cuda::Launch launch(const Gemm<T, T>& g) {
    return {
        .grid = {cuda::tiles_of_c<BM, BN>(g)}, .block = block, .shared_bytes = sizeof(Shared<T>)};
  }
};

}  // namespace

RUNG_CUDA_GEMM(09_async_copies, AsyncCopies, f32, f64, i32)

}  // namespace rung
