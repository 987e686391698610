// gemm/cuda/rank_k: a short k, as in rank-k updates, where writing C takes most of the time: a
//   block needs few registers, so that several blocks on an SM load and multiply while others
//   store.
// from: fma_tiles | removes: large tiles, whose only block on an SM stores while nothing else runs,
//   and the staging of results in shared memory if rows of C are not aligned | bottleneck: writing
//   C; spills
// needs: sm_80 | try: rung bench gemm/cuda/fma_tiles gemm/cuda/rank_k --sizes
//   4000x4000x16,3023x8174x5

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/load/async_tile.cuh"
#include "device/cuda/tile/fragment.cuh"
#include "device/cuda/tile/tile_coord.cuh"

namespace rung {
namespace {

/// A warp computes TM whole rows of the tile, so that its stores are contiguous even if rows of C
/// are not aligned: a lane stores a vector of neighbours, or every 32nd element.
struct RankK {
  static constexpr int BM = 32;
  static constexpr int BN = 128;
  static constexpr int BK = 16;
  static constexpr int TM = 8;
  static constexpr int TN = BN / 32;
  static constexpr int THREADS = BM / TM * 32;
  static constexpr int MIN_BLOCKS_PER_SM = 5;
  static constexpr int STAGES = 2;

  template <class T>
  struct Shared {
    static_assert(TN == cuda::vector_width<T>);
    static constexpr int LDA = BM + cuda::vector_width<T>;
    static constexpr int LDB = BN + cuda::vector_width<T>;
    alignas(16) T As[STAGES][BK][LDA];
    alignas(16) T Bs[STAGES][BK][LDB];
  };

  template <class T>
  static __device__ __forceinline__ void kernel(const Gemm<T, T>& g) {
    if (cuda::has_aligned_rows(g)) {
      kernel<T, cuda::Fragment<TN, 32, TN>>(g);
    } else {
      kernel<T, cuda::Fragment<TN, 32, 1>>(g);
    }
  }

  template <class T, class Cols>
  static __device__ __forceinline__ void kernel(const Gemm<T, T>& g) {
    using Tiles = Shared<T>;
    using Rows = cuda::Fragment<TM, 1, cuda::vector_width<T>>;
    auto& [As, Bs] = cuda::dynamic_shared<Tiles>();

    // place
    const cuda::TileCoord tile = cuda::grouped_tile<BM, BN>(g, blockIdx.x, 1);
    const int row = static_cast<int>(threadIdx.x) / 32 * TM;
    const int col = Cols::first(static_cast<int>(threadIdx.x) % 32);

    // load: issue the first tiles
    cuda::AsyncTile<T, BM, BK, Tiles::LDA, THREADS, cuda::Way::any> a_tile(cuda::operand_a(g),
                                                                           tile.row, 0, As);
    cuda::AsyncTile<T, BN, BK, Tiles::LDB, THREADS, cuda::Way::any> b_tile(cuda::operand_b(g),
                                                                           tile.col, 0, Bs);
    const cuda::KTiles<BK> tiles(g.k);
    a_tile.copy_first(tiles.first);
    b_tile.copy_first(tiles.first);
    ptx::cp_async_commit_group();

    T acc[TM][TN] = {};
    int now = 0;
    for (int left = tiles.count; left > 0; --left) {
      // sync: the tiles have arrived, and all reads of the previous ones are done
      ptx::cp_async_wait_group<0>();
      __syncthreads();
      // load: issue the next tiles
      if (left > 1) {
        a_tile.copy(1 - now, true);
        b_tile.copy(1 - now, true);
        ptx::cp_async_commit_group();
      }
      // multiply
      RUNG_UNROLL
      for (int k = 0; k < BK; ++k) {
        T a_frag[TM];
        T b_frag[TN];
        Rows::load(a_frag, &As[now][k][row]);
        Cols::load(b_frag, &Bs[now][k][col]);
        cuda::add_outer_product(acc, a_frag, b_frag);
      }
      now = 1 - now;
    }
    store<Cols>(g, tile.row + row, tile.col + col, acc);
  }

  /// Reads C, if results depend on it, four rows at a time, because a load after a store would wait
  /// for it.
  template <class Cols, class T>
  static __device__ __forceinline__ void store(const Gemm<T, T>& g, std::int64_t row,
                                               std::int64_t col, const T (&acc)[TM][TN]) {
    constexpr int AT_ONCE = 4;
    constexpr int W = Cols::stride / 32;  // neighbouring elements of a lane
    using Piece = cuda::Vector<T, W>;
    const cuda::Epilogue<T> epilogue(g);
    RUNG_UNROLL
    for (int first = 0; first < TM; first += AT_ONCE) {
      Piece old[AT_ONCE][TN / W] = {};
      if (epilogue.reads_c()) {
        for_pieces<Cols, AT_ONCE>(g, row + first, col, [&](int i, int j, T* c, std::int64_t left) {
          if (left >= W) old[i][j] = *reinterpret_cast<Piece*>(c);
          RUNG_UNROLL
          for (int w = 0; w < W - 1; ++w) {
            if (left < W && w < left) old[i][j].at[w] = c[w];
          }
        });
      }
      for_pieces<Cols, AT_ONCE>(g, row + first, col, [&](int i, int j, T* c, std::int64_t left) {
        const auto result = [&](int w) {
          return epilogue.combine(acc[first + i][j * W + w], old[i][j].at[w]);
        };
        if (left >= W) {
          Piece piece;
          RUNG_UNROLL
          for (int w = 0; w < W; ++w) piece.at[w] = result(w);
          *reinterpret_cast<Piece*>(c) = piece;
        }
        RUNG_UNROLL
        for (int w = 0; w < W - 1; ++w) {
          if (left < W && w < left) c[w] = result(w);
        }
      });
    }
  }

  /// Calls f(i, j, c, left) for the j-th piece of this lane in row i, which begins at c; `left`
  /// elements remain to the end of the row. Rows outside C have no pieces.
  template <class Cols, int ROWS, class T, class F>
  static __device__ __forceinline__ void for_pieces(const Gemm<T, T>& g, std::int64_t row,
                                                    std::int64_t col, const F& f) {
    constexpr int W = Cols::stride / 32;
    RUNG_UNROLL
    for (int i = 0; i < ROWS; ++i) {
      RUNG_UNROLL
      for (int j = 0; j < TN / W; ++j) {
        const std::int64_t c_col = col + Cols::offset(j * W);
        const std::int64_t left = row + i < g.m ? g.n - c_col : 0;
        f(i, j, g.c.data + (row + i) * g.c.row_stride + c_col, left);
      }
    }
  }

  template <class T>
  static cuda::Launch launch(const Gemm<T, T>& g) {
    return {.grid = {cuda::tiles_of_c<BM, BN>(g)},
            .block = {THREADS},
            .shared_bytes = sizeof(Shared<T>)};
  }
};

}  // namespace

RUNG_CUDA_GEMM(rank_k, RankK, f32, i32)

}  // namespace rung
