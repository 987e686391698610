// gemm/cuda/fma_tiles: the library's FMA kernel: rung 11 with more tiles, and with a copy loop for
//   each layout of A and B.
// from: 11_split_k | removes: element-wise transposing copies, and the waste of large tiles in a
//   small or narrow C | bottleneck: issue slots taken by instructions other than FMAs, and register
//   bank conflicts; 32 x 64 spills
// needs: sm_80 | try: rung trace gemm/cuda/fma_tiles

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/split_k.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/load/async_panel.cuh"
#include "device/cuda/tile/fragment.cuh"
#include "device/cuda/tile/warp_tile.cuh"

namespace rung {
namespace {

template <int BM, int BN, int BK, int WM, int WN, int TM, int TN, int STAGES, int BLOCKS = 1>
struct FmaTile {
  using Warps = cuda::WarpTile<BM, BN, WM, WN, TM, TN>;
  static constexpr int THREADS = Warps::THREADS;
  static constexpr int MIN_BLOCKS_PER_SM = BLOCKS;
  /// True if aligned K-major operands are copied without transposing them. A thread then holds
  /// elements of several k-steps at a time, for which only small tiles leave registers.
  static constexpr bool READS_ROWS = BLOCKS > 1;
  /// True if registers suffice for two k-steps of one operand.
  template <class T>
  static constexpr bool HAS_PAIRS = BM == 64 && BN == 64 && sizeof(T) == 4 && T(0.5f) != T{};
  static constexpr unsigned GROUP = 8;  // tile rows per swizzle group
  static_assert(BK % 2 == 0, "a tile's first fragments lie in the first of two buffers");

  template <class T>
  using Rows = cuda::Fragment<TM, Warps::LANES_M, cuda::vector_width<T>>;
  template <class T>
  using Cols = cuda::Fragment<TN, Warps::LANES_N, cuda::vector_width<T>>;
  template <class T, int EXTENT, cuda::Way WAY>
  using Panel = cuda::AsyncPanel<T, EXTENT, BK, THREADS, WAY>;

  template <class T, cuda::Way WAY_A, cuda::Way WAY_B>
  struct Shared {
    alignas(16) typename Panel<T, BM, WAY_A>::Tile As[STAGES];
    alignas(16) typename Panel<T, BN, WAY_B>::Tile Bs[STAGES];
  };

  /// Large enough for an operand copied in any way.
  template <class T, int EXTENT>
  union Stages {
    typename Panel<T, EXTENT, cuda::Way::any>::Tile columns[STAGES];
    typename Panel<T, EXTENT, cuda::Way::rows>::Tile rows[STAGES];
  };

  static_assert(THREADS / 32 * Warps::LANES_M * WN <= STAGES * BK * BM, "staging fits in As");

  template <class T>
  static __device__ __forceinline__ bool has_fast_copies(const Gemm<T, T>& g) {
    using enum cuda::Way;
    return (cuda::can_copy<k_major>(cuda::operand_a(g)) ||
            cuda::can_copy<vectors>(cuda::operand_a(g))) &&
           cuda::can_copy<vectors>(cuda::operand_b(g));
  }

  /// A block's tile of C, and its part of k.
  struct Place {
    cuda::TileCoord tile;
    cuda::KRange range;

    template <class T>
    __device__ __forceinline__ Place(const Gemm<T, T>& g, const cuda::SplitK& split_k) {
      const cuda::BlockWork work = cuda::block_work(split_k);
      tile = cuda::grouped_tile<BM, BN>(g, work.tile, GROUP);
      range = cuda::part_of_k<BK>(g.k, work.parts, work.part);
    }
  };

  template <class T>
  static __device__ __forceinline__ void kernel(const Gemm<T, T>& g, const cuda::SplitK& split_k) {
    if constexpr (READS_ROWS || HAS_PAIRS<T>) {
      // A single store for all ways, because it is most of the code of small tiles.
      const Place place(g, split_k);
      T acc[TM][TN] = {};
      with_ways(
          g, [&]<cuda::Way A, cuda::Way B>() RUNG_INLINE_LAMBDA { multiply<A, B>(g, place, acc); });
      store(g, split_k, place.tile, acc);
    } else {
      with_ways(g, [&]<cuda::Way A, cuda::Way B>() RUNG_INLINE_LAMBDA {
        const Place place(g, split_k);
        T acc[TM][TN] = {};
        multiply<A, B>(g, place, acc);
        store(g, split_k, place.tile, acc);
      });
    }
  }

  /// Calls f.template operator()<A, B>() with the fastest compiled ways to copy A and B.
  template <class T, class F>
  static __device__ __forceinline__ void with_ways(const Gemm<T, T>& g, const F& f) {
    using enum cuda::Way;
    const auto a = cuda::operand_a(g), b = cuda::operand_b(g);
    constexpr bool is_float = T(0.5f) != T{};  // integers are rare: fewer variants
    const bool a_vectors = cuda::can_copy<vectors>(a), b_vectors = cuda::can_copy<vectors>(b);
    if constexpr ((READS_ROWS && BN >= 64) || HAS_PAIRS<T>) {
      constexpr cuda::Way along_k = HAS_PAIRS<T> ? pairs : rows;
      constexpr cuda::Way b_of_both = HAS_PAIRS<T> ? k_major : rows;
      const bool a_along_k = cuda::can_copy<along_k>(a), b_along_k = cuda::can_copy<along_k>(b);
      if (a_along_k && b_along_k) return f.template operator()<along_k, b_of_both>();
      if (a_along_k && b_vectors) return f.template operator()<along_k, vectors>();
      if (a_vectors && b_along_k) return f.template operator()<vectors, along_k>();
      if (a_vectors && b_vectors) return f.template operator()<vectors, vectors>();
    } else if constexpr (READS_ROWS) {  // a tile with few elements of B
      if (cuda::can_copy<rows>(a)) return f.template operator()<rows, any>();
      if (a_vectors) return f.template operator()<vectors, any>();
    } else {
      if (b_vectors) {
        if (a.is_k_major()) return f.template operator()<k_major, vectors>();
        // For smaller tiles, the way of loading matters less.
        if (BM * BN >= 64 * 64 && a_vectors) return f.template operator()<vectors, vectors>();
      }
      if constexpr (BM * BN == 64 * 128 && is_float) {
        if (a.is_k_major() && b.is_k_major()) return f.template operator()<k_major, k_major>();
        if (a_vectors && b.is_k_major()) return f.template operator()<vectors, k_major>();
      }
    }
    f.template operator()<any, any>();
  }

  /// acc += the thread's rows of A times its columns of B, over a part of k.
  template <cuda::Way WAY_A, cuda::Way WAY_B, class T>
  static __device__ __forceinline__ void multiply(const Gemm<T, T>& g, const Place& place,
                                                  T (&acc)[TM][TN]) {
    using PanelA = Panel<T, BM, WAY_A>;
    using PanelB = Panel<T, BN, WAY_B>;
    auto& [As, Bs] = cuda::dynamic_shared<Shared<T, WAY_A, WAY_B>>();
    const int thread_row = Warps::warp_row() + Rows<T>::first(Warps::lane_row());
    const int thread_col = Warps::warp_col() + Cols<T>::first(Warps::lane_col());

    // load: issue the first tiles; those after k are zeros, so that one commit group is one tile
    typename PanelA::Copies a_tile(cuda::operand_a(g), place.tile.row, place.range.begin, As);
    typename PanelB::Copies b_tile(cuda::operand_b(g), place.tile.col, place.range.begin, Bs);
    const cuda::KTiles<BK> tiles(place.range.end - place.range.begin);
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

    typename PanelA::template Fragments<TM, Rows<T>> a;
    typename PanelB::template Fragments<TN, Cols<T>> b;
    a.load_ahead(As[0], thread_row, 0);
    b.load_ahead(Bs[0], thread_col, 0);
    a.load(As[0], thread_row, 0);
    b.load(Bs[0], thread_col, 0);
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
        a.load_ahead(As[now], thread_row, k + 1);
        b.load_ahead(Bs[now], thread_col, k + 1);
        cuda::add_outer_product(acc, a.at(k), b.at(k));
        a.load(As[now], thread_row, k + 1);
        b.load(Bs[now], thread_col, k + 1);
      }

      // sync: the next tiles have arrived, and all reads of these are done
      ptx::cp_async_wait_group<STAGES - 2>();
      __syncthreads();

      // multiply: the last k-step, while the first fragments of the next tiles are loaded
      now = now == STAGES - 1 ? 0 : now + 1;
      a.load_ahead(As[now], thread_row, 0);
      b.load_ahead(Bs[now], thread_col, 0);
      cuda::add_outer_product(acc, a.at(BK - 1), b.at(BK - 1));
      a.load(As[now], thread_row, 0);
      b.load(Bs[now], thread_col, 0);
    }
  }

  /// Computes the block's work again, because keeping it would take registers.
  template <class T>
  static __device__ __forceinline__ void store(const Gemm<T, T>& g, const cuda::SplitK& split_k,
                                               const cuda::TileCoord& tile,
                                               const T (&acc)[TM][TN]) {
    cuda::store_or_split<Rows<T>, Cols<T>, THREADS, Warps::LANES_M, WN>(
        g, split_k.workspace, cuda::block_work(split_k), tile.row + Warps::warp_row(),
        tile.col + Warps::warp_col(), Warps::lane_row(), Warps::lane_col(), acc,
        [&]() RUNG_INLINE_LAMBDA {
          // sync: all reads of the tiles are done, and so are the copies after the last tile,
          // which are zeros; the memory has room for a row of each thread
          ptx::cp_async_wait_group<0>();
          __syncthreads();
          auto& tiles = cuda::dynamic_shared<Shared<T, cuda::Way::any, cuda::Way::any>>();
          return &tiles.As[0][0][0] + threadIdx.x / 32 * (Warps::LANES_M * WN);
        });
  }

  /// Enough for any way of copying.
  template <class T>
  static constexpr std::int64_t shared_bytes() {
    if constexpr (READS_ROWS) return sizeof(Stages<T, BM>) + sizeof(Stages<T, BN>);
    return sizeof(Shared<T, cuda::Way::any, cuda::Way::any>);
  }

  template <class T, class>
  static constexpr cuda::TileShape shape() {
    return {BM, BN, BK, THREADS, shared_bytes<T>(), 1, WM, WN, TM, TN};
  }

  template <class T>
  static cuda::Launch launch(const Gemm<T, T>& g, const cuda::GemmConfig& chosen) {
    const std::int64_t tiles = cuda::tiles_of_c<BM, BN>(g);
    return {.grid = {cuda::blocks_of(tiles, chosen)},
            .block = {THREADS},
            .shared_bytes = shared_bytes<T>(),
            .workspace_bytes = cuda::split_bytes<T>(tiles, BM * BN, chosen)};
  }
};

// A double occupies two registers, so its tiles are smaller.
//                        BM   BN  BK  WM  WN  TM  TN  STAGES  BLOCKS
using Large = FmaTile<128, 256, 8, 64, 64, 16, 8, 4>;
using Medium = FmaTile<64, 128, 16, 64, 32, 8, 8, 3>;
using Small = FmaTile<64, 64, 16, 64, 16, 8, 4, 4>;
using Smaller = FmaTile<32, 64, 16, 16, 32, 4, 4, 4, 5>;
using Flat = FmaTile<16, 128, 32, 16, 32, 4, 4, 4>;
using Tall = FmaTile<128, 16, 32, 32, 16, 4, 4, 4>;
using Taller = FmaTile<128, 32, 16, 32, 32, 8, 4, 5, 3>;
using Doubles = FmaTile<64, 64, 16, 32, 32, 8, 4, 3>;

}  // namespace

// compiled by type: f32 f64 i32
RUNG_CUDA_GEMM_TILES(fma_tiles, (0, Large, f32), (1, Medium, f32), (2, Small, f32),
                     (3, Smaller, f32), (4, Flat, f32), (5, Tall, f32), (6, Taller, f32),
                     (0, Doubles, f64), (0, Medium, i32), (1, Small, i32))

}  // namespace rung
