// gemm/cuda/51_any_operands: operands that TMA cannot read, element by element: a small product takes
//   one launch, where packing them first takes two or three.
// from: 31_dependent_launch | removes: the launches that pack operands, which take longer than a
//   small product | bottleneck: load instructions, eight and more where one vector would do
// needs: sm_80 | try: rung bench gemm/cuda/31 gemm/cuda/51 --dtype bf16 --sizes 100x99x101

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/split_k_last.cuh"
#include "device/cuda/load/element_loader.cuh"
#include "device/cuda/tile/block_work.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/tile/warps.cuh"

namespace rung {
namespace {

template <class In>
inline constexpr int BK = sizeof(In) == 4 ? 32 : 64;

struct AnyOperands {
  static constexpr int BM = 64;
  static constexpr int BN = 64;
  static constexpr int WM = 32;
  static constexpr int WN = 16;
  static constexpr int FRAGS_M = WM / 16;  // one mma is m16n8, of 32 bytes along k
  static constexpr int FRAGS_N = WN / 8;
  static constexpr unsigned GROUP = 8;  // rows of tiles that go together
  using Warps = cuda::Warps<BM, BN, WM, WN>;
  static constexpr int THREADS = Warps::THREADS;
  static constexpr int MIN_BLOCKS_PER_SM = 2;
  template <class In>
  using ALoader = cuda::ElementLoader<In, BM, BK<In>, THREADS>;
  template <class In>
  using BLoader = cuda::ElementLoader<In, BN, BK<In>, THREADS>;

  template <class In, class Sum>
  union Shared {
    struct {
      alignas(16) In As[ALoader<In>::SIZE];
      alignas(16) In Bs[BLoader<In>::SIZE];
    } tiles;
    Sum results[BM * BN];
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
    a_tile.load(range.begin, range.end);
    b_tile.load(range.begin, range.end);

    Sum acc[FRAGS_M][FRAGS_N][4] = {};
    for (std::int64_t k0 = range.begin; k0 < range.end; k0 += BK<In>) {
      // sync: all reads of the previous tiles are done
      __syncthreads();
      a_tile.store(shared.tiles.As);
      b_tile.store(shared.tiles.Bs);
      // sync: the tiles are complete
      __syncthreads();

      // load: the next tiles, on their way while these are multiplied
      if (k0 + BK<In> < range.end) {
        a_tile.load(k0 + BK<In>, range.end);
        b_tile.load(k0 + BK<In>, range.end);
      }
      multiply<In>(shared.tiles.As, shared.tiles.Bs, acc);
    }

    // store: through shared memory, so that neighbouring threads store neighbours in C
    // sync: all reads of the tiles are done
    __syncthreads();
    stage(acc, shared.results);
    // sync: the results are complete
    __syncthreads();
    cuda::store_by_last<THREADS, BM * BN>(
        split_k.workspace, work, shared.results, [&](int i, const Sum& sum) RUNG_INLINE_LAMBDA {
          const std::int64_t row = tile.row + i / BN, col = tile.col + i % BN;
          if (row < g.m && col < g.n) cuda::store(g, row, col, sum);
        });
  }

  /// acc += the warp's rows of A times its columns of B.
  template <class In, class Sum>
  static __device__ __forceinline__ void multiply(const In* As, const In* Bs,
                                                  Sum (&acc)[FRAGS_M][FRAGS_N][4]) {
    const std::uint32_t a = ptx::cvta_to_shared(As);
    const std::uint32_t b = ptx::cvta_to_shared(Bs);
    RUNG_UNROLL
    for (int byte = 0; byte < BK<In> * static_cast<int>(sizeof(In)); byte += 32) {
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

  /// The warp's sums, row by row of the block's tile.
  template <class Sum>
  static __device__ __forceinline__ void stage(const Sum (&acc)[FRAGS_M][FRAGS_N][4],
                                               Sum* results) {
    const int row = Warps::row() + cuda::accumulator_row();
    const int col = Warps::col() + cuda::accumulator_col();
    RUNG_UNROLL
    for (int i = 0; i < FRAGS_M; ++i) {
      RUNG_UNROLL
      for (int j = 0; j < FRAGS_N; ++j) {
        RUNG_UNROLL
        for (int e = 0; e < 4; ++e) {
          results[(row + i * 16 + e / 2 * 8) * BN + col + j * 8 + e % 2] = acc[i][j][e];
        }
      }
    }
  }

  template <class In, class Out>
  static constexpr cuda::TileShape shape() {
    return {BM, BN, BK<In>, THREADS, sizeof(Shared<In, Scalar<Out>>), 1, WM, WN};
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g, const cuda::GemmConfig& chosen) {
    const std::int64_t tiles = cuda::tiles_of_c<BM, BN>(g);
    return {.grid = {cuda::blocks_of(tiles, chosen)},
            .block = {THREADS},
            .shared_bytes = sizeof(Shared<In, Scalar<Out>>),
            .workspace_bytes = cuda::split_bytes<Scalar<Out>>(tiles, BM * BN, chosen)};
  }

  /// As many parts of k as SMs have room for, of four k-blocks or more: adding up parts takes about
  /// as long as loading one k-block.
  template <class In, class Out>
  static cuda::GemmConfig choose(const Gemm<In, Out>& g, int multiprocessors) {
    const std::int64_t tiles = cuda::tiles_of_c<BM, BN>(g);
    const std::int64_t most = g.k / (4 * BK<In>);
    const std::int64_t wanted = 2 * multiprocessors / (tiles > 0 ? tiles : 1);
    const std::int64_t splits = wanted < most ? wanted : most;
    return {.splits = splits < 1 ? 1 : static_cast<int>(splits)};
  }
};

}  // namespace

RUNG_CUDA_GEMM_TILES(51, any_operands, (0, AnyOperands, bf16, f16, bf16_bf16, f16_f16, tf32, i8))

}  // namespace rung
