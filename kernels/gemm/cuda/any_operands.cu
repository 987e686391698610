// gemm/cuda/any_operands: operands that TMA cannot read are loaded element by element, so that a
//   product with a short side takes one launch instead of two or three with packing.
// from: wgmma_tiles | removes: the launches that pack operands, which take longer than a small
//   product or one with a short k | bottleneck: load instructions, eight or more where one vector
//   load would do; a register spills
// needs: sm_80 | try: rung bench gemm/cuda/wgmma_tiles gemm/cuda/any_operands --dtype bf16 --sizes
//   100x99x101

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/split_k.cuh"
#include "device/cuda/epilogue/store_rows.cuh"
#include "device/cuda/epilogue/store_warp_rows.cuh"
#include "device/cuda/load/element_loader.cuh"
#include "device/cuda/tile/block_work.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/tile/thread_group.cuh"
#include "device/cuda/tile/warps.cuh"

namespace rung {
namespace {

/// Steps of a k-block: 64 bytes, or 128 bytes of tf32.
template <class In>
inline constexpr int BK = sizeof(In) == 1 ? 64 : 32;

template <class In, class Out>
cuda::GemmConfig choose_config(const Gemm<In, Out>& g, int multiprocessors);

/// PREFETCH: load the next tiles into registers while the current ones are multiplied. Larger tiles
/// need these registers for their sums.
template <int BM_, int BN_, int WM_, int WN_, int BLOCKS, bool PREFETCH>
struct AnyOperands {
  static constexpr int BM = BM_;
  static constexpr int BN = BN_;
  static constexpr int WM = WM_;
  static constexpr int WN = WN_;
  static constexpr int FRAGS_M = WM / 16;  // one mma is m16n8, of 32 bytes along k
  static constexpr int FRAGS_N = WN / 8;
  static constexpr unsigned GROUP = 8;  // tile rows per swizzle group
  using Warps = cuda::Warps<BM, BN, WM, WN>;
  static constexpr int THREADS = Warps::THREADS;
  using Block = cuda::ThreadGroup<THREADS, THREADS>;
  static constexpr int MIN_BLOCKS_PER_SM = BLOCKS;
  static constexpr int PITCH = BN + 8;  // of staged results: rows start in different banks
  template <class In>
  using ALoader = cuda::ElementLoader<In, BM, BK<In>, THREADS>;
  template <class In>
  using BLoader = cuda::ElementLoader<In, BN, BK<In>, THREADS>;

  template <class In, class Sum>
  union Shared {
    struct {
      alignas(16) std::uint32_t As[ALoader<In>::SIZE];
      alignas(16) std::uint32_t Bs[BLoader<In>::SIZE];
    } tiles;
    Sum results[BM * PITCH];
  };

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g,
                                                const cuda::SplitK& split_k) {
    using Sum = Scalar<Out>;
    auto& shared = cuda::dynamic_shared<Shared<In, Sum>>();

    // place
    const cuda::BlockWork work = cuda::block_work(split_k);
    const cuda::TileCoord tile = cuda::grouped_tile<BM, BN>(g, work.tile, GROUP);
    const cuda::KRange range = cuda::part_of_k<BK<In>>(g.k, work.parts, work.part);

    // load: the first tiles, into registers
    ALoader<In> a_tile(cuda::operand_a(g), tile.row);
    BLoader<In> b_tile(cuda::operand_b(g), tile.col);
    if constexpr (PREFETCH) {
      a_tile.load(range.begin, range.end);
      b_tile.load(range.begin, range.end);
    }

    Sum acc[FRAGS_M][FRAGS_N][4] = {};
    for (std::int64_t k0 = range.begin; k0 < range.end; k0 += BK<In>) {
      if constexpr (!PREFETCH) {
        a_tile.load(k0, range.end);
        b_tile.load(k0, range.end);
      }
      // sync: all reads of the previous tiles are done
      __syncthreads();
      a_tile.store(shared.tiles.As);
      b_tile.store(shared.tiles.Bs);
      // sync: the tiles are complete
      __syncthreads();

      // load: issue the next tiles, which arrive while these are multiplied
      if (PREFETCH && k0 + BK<In> < range.end) {
        a_tile.load(k0 + BK<In>, range.end);
        b_tile.load(k0 + BK<In>, range.end);
      }
      multiply<In>(shared.tiles.As, shared.tiles.Bs, range.end - k0, acc);
    }

    // store: through shared memory, so that neighbouring threads store neighbouring elements of C
    // sync: all reads of the tiles are done
    __syncthreads();
    stage(acc, shared.results);
    // sync: the results are complete
    __syncthreads();
    store(g, split_k.workspace, work, tile, shared.results);
  }

  /// acc += the warp's rows of A times its columns of B over `steps` steps of k.
  template <class In, class Sum>
  static __device__ __forceinline__ void multiply(const std::uint32_t* As, const std::uint32_t* Bs,
                                                  std::int64_t steps,
                                                  Sum (&acc)[FRAGS_M][FRAGS_N][4]) {
    const std::uint32_t a = ptx::cvta_to_shared(As);
    const std::uint32_t b = ptx::cvta_to_shared(Bs);
    RUNG_UNROLL
    for (int byte = 0; byte < BK<In> * static_cast<int>(sizeof(In)); byte += 32) {
      if (byte >= steps * static_cast<int>(sizeof(In))) break;
      std::uint32_t a_frag[FRAGS_M][4];
      std::uint32_t b_frag[FRAGS_N / 2][4];
      RUNG_UNROLL
      for (int i = 0; i < FRAGS_M; ++i) {
        ALoader<In>::template load_fragments<true>(a_frag[i], a, Warps::row() + i * 16, byte);
      }
      RUNG_UNROLL
      for (int j = 0; j < FRAGS_N / 2; ++j) {
        BLoader<In>::template load_fragments<false>(b_frag[j], b, Warps::col() + j * 16, byte);
      }
      RUNG_UNROLL
      for (int i = 0; i < FRAGS_M; ++i) {
        RUNG_UNROLL
        for (int j = 0; j < FRAGS_N; ++j) {
          ptx::mma_m16n8<In>(acc[i][j], a_frag[i], &b_frag[j / 2][j % 2 * 2]);
        }
      }
    }
  }

  /// Writes the warp's sums to the rows of the block's tile.
  template <class Sum>
  static __device__ __forceinline__ void stage(const Sum (&acc)[FRAGS_M][FRAGS_N][4],
                                               Sum* results) {
    const int row = Warps::row() + cuda::accumulator_row();
    const int col = Warps::col() + cuda::accumulator_col();
    RUNG_UNROLL
    for (int i = 0; i < FRAGS_M; ++i) {
      RUNG_UNROLL
      for (int j = 0; j < FRAGS_N; ++j) {
        const std::uint32_t to =
            ptx::cvta_to_shared(results + (row + i * 16) * PITCH + col + j * 8);
        ptx::st_shared_v2(to, acc[i][j][0], acc[i][j][1]);
        ptx::st_shared_v2(to + 8 * PITCH * sizeof(Sum), acc[i][j][2], acc[i][j][3]);
      }
    }
  }

  /// A thread stores one column of the tile, every THREADS / BN-th row.
  template <class In, class Out>
  static __device__ __forceinline__ void store(const Gemm<In, Out>& g, void* workspace,
                                               const cuda::BlockWork& work,
                                               const cuda::TileCoord& tile,
                                               const Scalar<Out>* results) {
    if (!work.is_whole()) {
      const int rows = g.m - tile.row < BM ? static_cast<int>(g.m - tile.row) : BM;
      const int cols = g.n - tile.col < BN ? static_cast<int>(g.n - tile.col) : BN;
      cuda::share_sums<THREADS, BM * BN>(
          workspace, work, rows * BN,
          [&](int i) RUNG_INLINE_LAMBDA { return results[i / BN * PITCH + i % BN]; },
          [&](int i, const Scalar<Out>& sum) RUNG_INLINE_LAMBDA {
            if (i % BN < cols) cuda::store(g, tile.row + i / BN, tile.col + i % BN, sum);
          });
    } else if (cuda::has_aligned_rows(g)) {
      cuda::store_pieces<cuda::vector_width<Out>, BM, BN, PITCH, Block>(g, tile, results);
    } else {
      cuda::store_warp_rows<BM, BN, PITCH, THREADS / 32>(g, tile, results);
    }
  }

  template <class In, class Out>
  static constexpr cuda::TileShape shape() {
    return {BM, BN, BK<In>, THREADS, sizeof(Shared<In, Scalar<Out>>), 1, WM, WN, 1, 1, true};
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g, const cuda::GemmConfig& chosen) {
    const std::int64_t tiles = cuda::tiles_of_c<BM, BN>(g);
    return {.grid = {cuda::blocks_of(tiles, chosen)},
            .block = {THREADS},
            .shared_bytes = sizeof(Shared<In, Scalar<Out>>),
            .workspace_bytes = cuda::split_bytes<Scalar<Out>>(tiles, BM * BN, chosen)};
  }

  /// As many splits as the SMs have room for, with at least two k-blocks each.
  template <class In, class Out>
  static int parts_of(const Gemm<In, Out>& g, int multiprocessors) {
    const std::int64_t tiles = cuda::tiles_of_c<BM, BN>(g);
    const std::int64_t room = MIN_BLOCKS_PER_SM * multiprocessors / (tiles > 0 ? tiles : 1);
    const std::int64_t halves = cuda::ceil_div(g.k, BK<In>) / 2;
    const std::int64_t most = halves < multiprocessors ? halves : multiprocessors;
    const std::int64_t parts = room < most ? room : most;
    return parts > 1 ? static_cast<int>(parts) : 1;
  }

  template <class In, class Out>
  static cuda::GemmConfig choose(const Gemm<In, Out>& g, int multiprocessors) {
    return choose_config(g, multiprocessors);
  }
};

//                         BM   BN   WM  WN  blocks per SM
using Square = AnyOperands<64, 64, 32, 16, 3, true>;
using Wide = AnyOperands<64, 128, 32, 32, 3, false>;
using Large = AnyOperands<128, 128, 64, 32, 2, false>;

/// Adding up splits takes about as long as four k-blocks of the smallest tile. Larger tiles are
/// faster from 1.5 tiles per SM on; Wide is also faster for up to 64 rows with a deep k.
template <class In, class Out>
cuda::GemmConfig choose_config(const Gemm<In, Out>& g, int multiprocessors) {
  const std::int64_t k_blocks = cuda::ceil_div(g.k, BK<In>);
  const cuda::GemmConfig square = {.splits =
                                       k_blocks > 6 ? Square::parts_of(g, multiprocessors) : 1};
  if constexpr (sizeof(In) > 1) {
    const std::int64_t wide = cuda::tiles_of_c<Wide::BM, Wide::BN>(g);
    const std::int64_t large = cuda::tiles_of_c<Large::BM, Large::BN>(g);
    if (g.m <= Wide::BM && k_blocks >= 24 && wide >= 20) {
      return {.tile = 1, .splits = Wide::parts_of(g, multiprocessors)};
    }
    if (square.splits > 1) return square;
    const bool is_written_slowly = sizeof(Out) == 2 || k_blocks > 1;
    if (2 * large >= 3 * multiprocessors && is_written_slowly) return {.tile = 2};
    if (2 * wide >= 3 * multiprocessors) return {.tile = 1};
  }
  return square;
}

}  // namespace

RUNG_CUDA_GEMM_TILES(any_operands, (0, Square, bf16, f16, bf16_bf16, f16_f16, tf32, i8),
                     (1, Wide, bf16, f16, bf16_bf16, f16_f16, tf32),
                     (2, Large, bf16, f16, bf16_bf16, f16_f16, tf32))

}  // namespace rung
