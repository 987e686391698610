// gemm/cuda/batched_tiles: batches of medium-sized products: the main loop of fma_tiles without
//   split-K; the block index selects the product and the tile.
// from: fma_tiles | removes: a launch for each product, each too small to fill the GPU |
//   bottleneck: the first loads of a block and its stores, which few resident blocks hide
// needs: sm_80 | try: rung bench gemm/cuda/small_matrices gemm/cuda/batched_tiles --batch 500
//   --sizes 128

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/load/async_tile.cuh"
#include "device/cuda/tile/fragment.cuh"
#include "device/cuda/tile/ragged_tile.cuh"
#include "device/cuda/tile/thread_group.cuh"
#include "device/cuda/tile/warp_tile.cuh"

namespace rung {
namespace {

struct BatchedTiles {
  static constexpr int BM = 64;
  static constexpr int BN = 128;
  static constexpr int BK = 16;
  static constexpr int WM = 64;
  static constexpr int WN = 32;
  static constexpr int TM = 8;
  static constexpr int TN = 8;
  static constexpr int STAGES = 3;
  using Warps = cuda::WarpTile<BM, BN, WM, WN, TM, TN>;
  static constexpr int THREADS = Warps::THREADS;
  static constexpr int MIN_BLOCKS_PER_SM = 1;

  template <class T>
  struct Shared {
    static constexpr int W = cuda::vector_width<T>;
    static constexpr int LDA = BM + W;
    static constexpr int LDB = BN + W;
    alignas(16) T As[STAGES][BK][LDA];
    alignas(16) T Bs[STAGES][BK][LDB];
  };

  static_assert(THREADS / 32 * Warps::LANES_M * WN <= STAGES * BK * BM, "staging fits in As");

  template <class T>
  static __device__ __forceinline__ void kernel(const Gemm<T, T>& first,
                                                const cuda::Products& products) {
    using enum cuda::Way;
    const auto [g, tile] =
        cuda::product_tile<BM, BN, cuda::ThreadGroup<THREADS, THREADS>, true>(first, products);
    const bool has_fast_copies =
        cuda::can_copy<k_major>(cuda::operand_a(g)) && cuda::can_copy<vectors>(cuda::operand_b(g));
    if (has_fast_copies) {
      compute<k_major, vectors>(g, tile);
    } else {
      compute<any, any>(g, tile);
    }
  }

  template <cuda::Way WAY_A, cuda::Way WAY_B, class T>
  static __device__ __forceinline__ void compute(const Gemm<T, T>& g, const cuda::TileCoord& tile) {
    using Tiles = Shared<T>;
    using Rows = cuda::Fragment<TM, Warps::LANES_M, Tiles::W>;
    using Cols = cuda::Fragment<TN, Warps::LANES_N, Tiles::W>;
    auto& [As, Bs] = cuda::dynamic_shared<Tiles>();

    // place
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
    if (cuda::has_aligned_rows(g)) {
      cuda::store_tile<Rows, Cols>(g, tile.row + thread_row, tile.col + thread_col, acc);
      return;
    }
    // sync: all reads of the tiles are done, and so are the copies after the last tile; the memory
    // has room for a row of each thread
    ptx::cp_async_wait_group<0>();
    __syncthreads();
    cuda::store_by_rows<Rows, Cols, Warps::LANES_M, WN>(
        g, tile.row + Warps::warp_row(), tile.col + Warps::warp_col(), Warps::lane_row(),
        Warps::lane_col(), acc, &As[0][0][0] + threadIdx.x / 32 * (Warps::LANES_M * WN));
  }

  template <class T>
  static cuda::Launch launch(const Gemm<T, T>& g) {
    return {.grid = {cuda::tiles_of_c<BM, BN>(g)},
            .block = {THREADS},
            .shared_bytes = sizeof(Shared<T>),
            .products_per_block = 1};
  }
};

}  // namespace

RUNG_CUDA_GEMM(batched_tiles, BatchedTiles, f32)

}  // namespace rung
